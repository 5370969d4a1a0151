import type { EngineCtx } from '#engines/ctx'
import type { GasFaucet } from '#engines/treasury/index'
import { mintCoins } from '#engines/treasury/rebalancing/index'
import type { Hex } from '#lib/hex'
import type { MessageChain } from './networks.ts'
import { messagesBy } from './store/messages.ts'

/** Hands the attested messages of rebalancings to the treasury of their destination. */
export const mintRebalancings = (
  ctx: EngineCtx,
  { chain, crosschain }: MessageChain,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> =>
  mintCoins(ctx, chain, gasFaucet, async ({ sourceBlockchain, burnTxHash }) => {
    const [message] = await messagesBy(ctx.database, sourceBlockchain, { transactionHash: burnTxHash })
    const { nonce, blockHash, attestedMessage, attestation, reattest } = message ?? {}
    if (nonce === undefined || !blockHash || reattest || !attestedMessage || !attestation) return undefined
    return { nonce, call: crosschain.receiveCall(attestedMessage as Hex, attestation as Hex) }
  })
