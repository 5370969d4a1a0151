/** Options of a soak; times are milliseconds. */
export type SoakOptions = {
  forMs: number
  /** Acts of customers in a minute. */
  perMinute: number
  /** Between two faults on average; 0 for none. */
  faultEveryMs: number
  seed: number
  /** Between two blocks of a chain that has nothing else to include. */
  blockMs: number
  /** File for the samples. */
  json: string | undefined
}
