/**
 * The words of test processes and the server of a test run to each other, over loopback HTTP below a path that is a secret.
 * `POST instances` starts an instance: the answer begins with one line of JSON when it is ready, and stays open as long as the
 * instance is wanted. When the connection ends, however that comes, the instance is dropped.
 */

/** The body of `POST instances`. */
export type InstanceRequest = {
  blockchains: readonly string[]
  blockTimeMs?: number | undefined
  /** The text of a plan. */
  faults?: string | undefined
  seed?: number | undefined
  settings?: Record<string, string> | undefined
}

/** The line with which the answer begins. */
export type InstanceAnswer = {
  /** Its path for `DELETE`, which answers when the instance is gone. */
  path: string
  url: string
  apiKey: string
  clientKey: string
  entitySecret: string
  console: string
  docs: string
  challengeUrl: string
  chains: { blockchain: string; chainId: number; rpcUrl: string; tokens: { USDC: string; EURC: string } }[]
}

/** The body of a refusal. */
export type InstanceRefusal = { message: string }

/** The only line that the server process prints. */
export type ServerLine = { url: string } | { message: string }
