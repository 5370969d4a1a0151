import { randomUUID } from 'node:crypto'
import type { Network } from '#chains/networks/index'
import { formatInstant, systemClock } from '#lib/time'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { encryptEntitySecret } from '#sandbox/ciphertext-endpoint'
import { type ConformanceCaller, requireThat } from './caller.ts'

export type OwnWallet = { id: string; address: string; blockchain: string; walletSetId: string }

/** State that the checks share: each resource is made by the first of them that needs it. */
export type World = ConformanceCaller & {
  /** The address of the server, without a slash at its end. */
  url: string
  /** Network of the wallets that are made. */
  blockchain: string
  /** Its code in the business account. */
  businessChain: string
  /** A ciphertext of the entity secret, which works in one request. */
  seal(): Promise<string>
  walletSet(): Promise<{ id: string }>
  /** Two wallets of that set. */
  wallets(): Promise<readonly [OwnWallet, OwnWallet]>
  user(): Promise<{ id: string; userToken: string }>
}

/** A statement about the interface. */
export type ConformanceCheck = {
  /** A sentence of which the server is the subject. */
  about: string
  /** Something that the run must have been given. */
  needs?: CheckNeed
  run(world: World): Promise<void>
}
export type CheckNeed = 'entity secret' | 'faucet'
export type CheckGroup = { name: string; checks: readonly ConformanceCheck[] }

type WorldInput = {
  caller: ConformanceCaller
  url: string
  network: Network
  entitySecret: string | undefined
}

export function worldOf({ caller, url, network, entitySecret }: WorldInput): World {
  const { done } = caller
  const { blockchain, businessChain } = network
  const publicKey = succeedOnce(async (): Promise<string> => {
    const { publicKey } = await done('GET /v1/w3s/config/entity/publicKey')
    return publicKey
  })
  const seal = async () => encryptEntitySecret(await publicKey(), entitySecret!)
  const walletSet = succeedOnce(async () => {
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await seal(),
      name: `Conformance ${formatInstant(systemClock.nowMs()).slice(0, 16)}`,
    }
    return (await done('POST /v1/w3s/developer/walletSets', { body })).walletSet as { id: string }
  })
  const wallets = succeedOnce(async () => {
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await seal(),
      walletSetId: (await walletSet()).id,
      blockchains: [blockchain],
      count: 2,
      metadata: [{ name: 'First', refId: `conformance-${randomUUID()}` }, { name: 'Second' }],
    }
    const { wallets: made } = await done('POST /v1/w3s/developer/wallets', { body })
    requireThat(made.length === 2, `makes ${made.length} wallets of 2`)
    return made as [OwnWallet, OwnWallet]
  })
  const user = succeedOnce(async () => {
    const userId = `conformance-${randomUUID()}`
    const { id } = await done('POST /v1/w3s/users', { body: { userId } })
    const { userToken } = await done('POST /v1/w3s/users/token', { body: { userId } })
    requireThat(typeof userToken === 'string', 'gives no userToken')
    return { id: id ?? userId, userToken: userToken as string }
  })
  return { ...caller, url, blockchain, businessChain, seal, walletSet, wallets, user }
}
