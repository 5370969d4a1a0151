/** Transfers of EURC by the token service of local chains, with quotes that a server of the harness signed. */
import { encodeFunctionData } from 'viem'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { crossChainTokenServiceAbi } from '#chains/evm/crosschain/artifacts/cross-chain-token-service'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { burner, domainOf, type Hex, sendCall } from './burns.ts'

export const { crossChainTokenService } = crosschainContracts.TEST
export const eurcId = messageTokens.TEST[0]!.id

export const quoteTransfer = (
  harness: Harness,
  from: TestChain,
  into: TestChain,
  body: object,
  id = eurcId,
) =>
  harness.http('POST', `/v2/quote/cctpx/${id}/${domainOf(from)}/${domainOf(into)}`, {
    body,
    headers: { authorization: undefined },
  })

/** The request of the published kits: the delivery to an account, and haste where it is wanted. */
export const forwarded = (
  amount: bigint,
  to: string,
  { fast = false, ...more }: { fast?: boolean; feeToken?: string } = {},
) => ({
  amount: String(amount),
  requests: [
    { type: 'FORWARD', params: { msgType: 'TransferMessage', destinationAddress: to } },
    ...(fast ? [{ type: 'PRE_FINALITY' }] : []),
  ],
  ...more,
})

type Transfer = {
  signedQuote: Hex
  to: string
  amount: bigint
  /** Native coins that come with the call. */
  value: bigint
  threshold?: number
  id?: Hex
  caller?: Hex
  hookData?: Hex
  executes?: boolean
}

/** Calls the token service as the burner, who has the coins and allows them. */
export async function transfer(from: TestChain, into: TestChain, given: Transfer) {
  const { signedQuote, to, amount, value, threshold = 2_000, id = eurcId, executes = false } = given
  const { caller = `0x${'0'.repeat(64)}`, hookData = '0x' } = given
  await from.send(burner, amount, 'EURC')
  const approve = {
    abi: stablecoinAbi,
    functionName: 'approve',
    args: [crossChainTokenService, amount],
  } as const
  await sendCall(from, from.tokens.EURC, encodeFunctionData(approve))
  const claim = { signedQuote, refundAddress: burner }
  const data = encodeFunctionData({
    abi: crossChainTokenServiceAbi,
    functionName: 'crossChainTransfer',
    args: [id, amount, domainOf(into), to as Hex, caller as Hex, threshold, claim, executes, hookData],
  })
  return sendCall(from, crossChainTokenService, data, burner, value)
}
