import { type AmountFields, requireLeaving } from '#api/calls/transfer-items'
import { requireToken, type TokenFields } from '#api/calls/transfer-request'
import { type EstimateSource, estimateSource, estimateTable } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { meetGivenToken } from './register-token.ts'

type EstimateBody = TokenFields & EstimateSource & AmountFields & { destinationAddress: string }

/** Estimates the cost of a transfer at each fee level. The sender may be any address, also one that is not a wallet here. */
export async function estimateTransfer(ctx: Ctx, { body }: { body: EstimateBody }) {
  const source = await estimateSource(ctx, body)
  const chain = requireChain(ctx, source.blockchain)
  await meetGivenToken(ctx, body, source)
  const token = await requireToken(ctx, body, source.blockchain)
  const leaving = await requireLeaving(ctx, token, body, { zeroAllowed: true, known: false })
  const destination = parseAddress(source.blockchain as Blockchain, body.destinationAddress)
  if (!destination)
    throw invalid({
      at: 'destinationAddress',
      reason: 'is not an address of the blockchain',
      value: body.destinationAddress,
      kind: 'destinationAddressInvalid',
    })
  const call = leaving.call(chain, { from: source.address, to: destination })
  return estimateTable(ctx, chain, source, call)
}
