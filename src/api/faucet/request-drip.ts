import type { Static } from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { unusableChain } from '#api/sources/usable-chains'
import { addressForm, isReserved, parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { TokenSymbol } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { recordChanges } from '#runtime/record/store'
import type { dripSchema } from './schema.ts'

type RequestDripBody = Static<typeof dripSchema>

/** Pays from the sandbox's faucet; resolves once the node has accepted the transactions. */
export async function payDrip(ctx: SandboxCtx, body: RequestDripBody): Promise<string[]> {
  if (!ctx.faucet || ctx.entity.environment !== 'TEST')
    throw new ApiError(
      'forbidden',
      'Forbidden: only a sandbox has a faucet, and only for a TEST key. Send the coins from a funded wallet.',
    )
  const blockchain = body.blockchain as Blockchain
  const tokens: TokenSymbol[] = [
    ...(body.usdc ? ['USDC' as const] : []),
    ...(body.eurc ? ['EURC' as const] : []),
  ]
  if (!body.native && tokens.length === 0)
    throw invalid({
      at: 'native',
      reason: 'or usdc or eurc must be true',
      value: false,
      error: 'value_must_be_true',
    })
  if (!capabilitiesOf(blockchain).faucet)
    throw invalid({
      at: 'blockchain',
      reason: 'has no faucet on this server',
      value: blockchain,
      kind: 'blockchainUnsupportedForOperation',
    })
  const address = addressOf(body.address, blockchain)
  if (!ctx.chains.find(blockchain))
    throw unusableChain(ctx, 'blockchain', blockchain, 'chainNotStarted', 'any')
  return ctx.faucet.drip(blockchain, address, { native: body.native ?? false, tokens })
}

function addressOf(text: string, blockchain: Blockchain): Address {
  const address = parseAddress(blockchain, text)
  if (address && !isReserved(blockchain, address)) return address
  throw invalid({
    at: 'address',
    reason: `must be an address of ${blockchain} that is not reserved: ${addressForm(blockchain)}`,
    value: text,
  })
}

export const recordDrip = (ctx: Ctx, body: RequestDripBody, hashes: readonly string[]) =>
  recordChanges(ctx.db, ctx.clock.nowMs(), [
    {
      entityId: ctx.entity.id,
      actor: ctx.actor,
      requestId: ctx.requestId,
      type: 'faucet.dripped',
      resourceId: body.address,
      data: { blockchain: body.blockchain, hashes },
    },
  ])
