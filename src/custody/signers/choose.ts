import type { Log } from '#runtime/log/log'
import { faultOf } from './known-answers.ts'
import { nativeSigner } from './native.ts'
import { pureSigner } from './pure.ts'
import type { Signer } from './signer.ts'
import { wasmSigner } from './wasm.ts'

/** Signers, fastest first. */
const candidates = [
  { name: 'native', make: nativeSigner },
  { name: 'wasm', make: wasmSigner },
  { name: 'pure', make: pureSigner },
] as const

export type Candidate = { name: string; make: () => Promise<Signer> }

/** Returns the first signer that loads on this machine and passes the published vectors; logs which one and why. */
export async function chooseSigner(log: Log, from: readonly Candidate[] = candidates): Promise<Signer> {
  const passedOver: string[] = []
  for (const { name, make } of from) {
    try {
      const signer = await make()
      const fault = faultOf(signer)
      if (fault === undefined) {
        const told = { signer: signer.name, passedOver }
        if (passedOver.length === 0) log.info(told, 'signing with the fastest signer of this machine')
        else log.warn(told, 'signing with a slower signer')
        return signer
      }
      passedOver.push(`${name}: ${fault}`)
    } catch (error) {
      passedOver.push(`${name}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`)
    }
  }
  throw new Error(`no signer works on this machine: ${passedOver.join('; ')}`)
}
