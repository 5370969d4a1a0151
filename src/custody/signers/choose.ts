import type { Log } from '#runtime/log/log'
import { requireAnswers } from './known-answers.ts'
import { nativeSigner } from './native.ts'
import type { Signer } from './signer.ts'
import { webAssemblySigner } from './web-assembly.ts'

/** An implementation to try; `make` rejects where it does not load. */
export type Candidate = { name: string; make: () => Promise<Signer> }

/** Builds of libsecp256k1, the fastest first. */
const candidates: readonly Candidate[] = [
  { name: 'native', make: nativeSigner },
  { name: 'WebAssembly', make: webAssemblySigner },
]

/**
 * Returns the first signer that loads on this machine and answers the published vectors, and logs which one and why. Throws
 * when there is none: a process that signs wrongly must not start.
 */
export async function chooseSigner(log: Log, from = candidates): Promise<Signer> {
  const rejected: string[] = []
  for (const { name, make } of from) {
    try {
      const signer = await make()
      requireAnswers(signer)
      if (rejected.length === 0) log.debug({ signer: name }, 'signing with the fastest signer')
      else log.warn({ signer: name, rejected }, 'signing with a slower signer')
      return signer
    } catch (error) {
      rejected.push(`${name}: ${(error as Error).message.split('\n')[0]}`)
    }
  }
  throw new Error(`no signer works on this machine: ${rejected.join('; ')}; reinstall bezant`)
}
