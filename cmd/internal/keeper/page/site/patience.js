// How long things are waited for, in milliseconds.

export const patience = {
  silence: 40000, // of a stream: the keeper says every 15 seconds that it lives
  answer: 20000, // of the keeper to a request
  long: 60000, // of the keeper where it has something to do: an answer to an ask, a terminal, a search
  refused: 30000, // while nobody takes a connection: then the keeper has ended
  pace: 300, // between looks at the same thing
};
