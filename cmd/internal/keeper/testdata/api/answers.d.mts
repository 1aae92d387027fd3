export declare function check(path: string, method: string, answer: Response): Promise<void>;
