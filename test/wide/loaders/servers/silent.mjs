// Takes requests and never answers one; ends with its input.
process.stdin.resume();
