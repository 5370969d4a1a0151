/** Recent health of one endpoint: the share of failed calls, recent ones weighted most, and the latency of the others. */
export type EndpointHealth = {
  host: string
  errorsRatio: number
  /** Moving average; recent calls are weighted most. */
  latencyMs: number
  /** Percentiles of the latency of the latest calls; `undefined` before the first answer. */
  p50Ms: number | undefined
  p95Ms: number | undefined
  /** Its newest block; `undefined` while it is in backoff, and for the only endpoint of a chain. */
  headNumber: number | undefined
  /** Number of blocks by which this endpoint is behind the most advanced one. */
  lagBlocks: number | undefined
}

/** An endpoint that is not of the network it is configured for, with the reason. */
export type RefusedEndpoint = {
  blockchain: string
  /** The host alone: the rest of the URL may hold a key. */
  endpoint: string
  reason: string
  /** The token, or the contract of the setting `crosschain`, that the endpoint lacks at the address. */
  token?: string
  contract?: string
  address?: string
}

/** Turns on the verification of endpoints before use, and receives its results. */
export type Inspection = {
  refused(endpoint: RefusedEndpoint): void
  /** Reports that an endpoint that was refused belongs to the right network now, and is used. */
  accepted(endpoint: RefusedEndpoint): void
}

/** The nodes through which a chain is reached. */
export type NodeEndpoints = {
  /** For messages: the rest of a URL may hold a key. */
  hosts: readonly string[]
  /** Recent health of each endpoint, in the order of `hosts`. */
  health(): readonly EndpointHealth[]
  /** Inspects each endpoint not yet verified and returns the refused ones: none for a chain without inspection. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  close(): Promise<void>
}
