/**
 * Services outside of the program that keep a key of their own, such as a hardware module or a cloud's key management, and encrypt
 * the root key with it: to wrap and to unwrap. A process asks once for each version of the root key, and keeps what it got in memory.
 */

export type KeyService = {
  /** The setting that names it, without secrets. */
  readonly name: string
  /** Encrypts a root key for its context. Throws `KeyServiceAway` and `KeyServiceRefused`. */
  wrap(rootKey: Buffer, context: WrapContext): Promise<Buffer>
  /** Returns the root key, which the caller wipes. Throws `KeyServiceAway` and `KeyServiceRefused`. */
  unwrap(wrapped: Buffer, context: WrapContext): Promise<Buffer>
}

/** Texts that a service authenticates with the key that it encrypts, and writes in its own log where it has one. */
export type WrapContext = Readonly<Record<string, string>>

/** Thrown when a service does not answer, or says that it cannot for now: the same request may pass later. */
export class KeyServiceAway extends Error {}

/** Thrown when a service refuses: the operator has to change a setting, a right or a key first. */
export class KeyServiceRefused extends Error {}

/** Time that a service has for an answer. */
export const keyServiceMs = 5_000

/** The context in bytes, for services that authenticate bytes: JSON with the names in order. */
export const bytesOfContext = (context: WrapContext): Buffer =>
  Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(context).toSorted())))
