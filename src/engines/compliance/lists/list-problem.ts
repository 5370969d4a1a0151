/** A reason why a list was not changed, with the line of the file where there is one. */
export class ListProblem extends Error {
  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `line ${line}: ${reason}`)
  }
}
