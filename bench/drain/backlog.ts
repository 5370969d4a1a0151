import { createHash, randomUUID } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import type { Address } from '#chains/addresses/types'
import type { ChainFamily } from '#chains/network'
import { openEntitySecret, transportPublicKey } from '#custody/index'
import { requireWallet } from '#custody/wallets/index'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { type Token, tokensOf } from '#engines/ledger/tokens/index'
import { submit } from '#engines/transactions/index'
import { sandboxEntitySecret } from '#sandbox/credentials'
import { seal } from '#testing/platform/tenant'
import { benchEntity } from '../entity.ts'

/** Transfers of one wallet that are accepted in one database transaction. */
const batchMax = 100
/** Database transactions under way at once. */
const submittersMax = 8
const amountAtomic = 10_000n

/**
 * Accepts transfers of 0.01 USDC, spread evenly over the wallets, each to a separate address: by the engine's function,
 * since another bench measures HTTP and ciphertexts, which would take most of the time.
 */
export async function acceptTransfers(
  engine: EngineCtx,
  { count, walletIds }: { count: number; walletIds: readonly string[] },
): Promise<void> {
  const scope = scopeOf(engine)
  const chain = engine.chains.list()[0]!
  const usdc = (await tokensOf(engine.database, chain.network.blockchain)).find(
    ({ symbol }) => symbol === 'USDC',
  )!
  const sealed = seal(await transportPublicKey(engine.custody), Buffer.from(sandboxEntitySecret, 'hex'))
  const secret = await openEntitySecret(scope, sealed)
  const wallets = await Promise.all(walletIds.map((id) => requireWallet(scope, id)))
  const batch = Math.min(batchMax, Math.ceil(count / wallets.length))
  let next = 0
  const work = async () => {
    while (next < count) {
      const first = next
      next += batch
      const wallet = wallets[(first / batch) % wallets.length]!
      const indexes = Array.from({ length: Math.min(batch, count - first) }, (_, place) => first + place)
      await engine.database.tx(async (tx) => {
        for (const index of indexes)
          await submit({ ...scope, db: tx }, secret, { wallet, chain, ...transferOf(chain, usdc, index) })
      })
    }
  }
  await Promise.all(Array.from({ length: submittersMax }, work))
}

/** New addresses, one for each transfer, whose keys do not exist. */
const payees: { readonly [family in ChainFamily]?: (index: number) => Address } = {
  evm: (index) => `0x${(0xca11_0000_0000n + BigInt(index)).toString(16).padStart(40, '0')}`,
  solana: (index) => encodeBase58(createHash('sha256').update(`payee ${index}`).digest()),
}

function transferOf(chain: Parameters<typeof submit>[2]['chain'], usdc: Token, index: number) {
  const to = payees[chain.network.family]!(index)
  return {
    call: chain.payments.transferCall(to, amountAtomic, usdc.address!),
    fee: { feeLevel: 'MEDIUM' as const },
    refId: '',
    tokens: [{ id: usdc.id, amountAtomic, ofUnlisted: false }],
    shown: {
      operation: 'TRANSFER' as const,
      tokenId: usdc.id,
      destinationAddress: to,
      amountTexts: ['0.01'],
      amountAtomic,
    },
  }
}

const scopeOf = (engine: EngineCtx): Ctx => ({
  ...engine,
  entity: benchEntity,
  actor: 'bench',
  requestId: randomUUID(),
  receivedMs: engine.clock.nowMs(),
  afterRollback: [],
  afterCommit: [],
})
