/** A value that does not fit its type: where it stands in the request, and why. */
export class ValueProblem extends Error {
  readonly location: string
  readonly reason: string

  constructor(location: string, reason: string) {
    super(`${location} ${reason}`)
    this.location = location
    this.reason = reason
  }
}
