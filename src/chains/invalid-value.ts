/** A value that does not fit its type: its location in the request, and the reason. */
export class ValueProblem extends Error {
  readonly location: string
  readonly reason: string

  constructor(location: string, reason: string) {
    super(`${location} ${reason}`)
    this.location = location
    this.reason = reason
  }
}
