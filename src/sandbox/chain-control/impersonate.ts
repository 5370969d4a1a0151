import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import { invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { hexQuantity } from '../chains/evm-chain.ts'
import type { EvmLocalChain } from '../chains/local-chain.ts'
import { type ChainControl, messageOf } from './control.ts'
import { type MinedState, untilMined } from './mined.ts'
import { addressOf, atomicOf, type Coin, coinOf, engineChain } from './payment.ts'

type TransferAs = { to: string; token: Coin; amount: string }
type CallAs = { to: string; data: string; value?: string | undefined }
type ImpersonateRequest = {
  address: string
  transfer?: TransferAs | undefined
  call?: CallAs | undefined
}

/** Sends a transaction from an address without its key. */
export async function sendAs(
  { ctx }: ChainControl,
  chain: EvmLocalChain,
  asked: ImpersonateRequest,
): Promise<{ txHash: string } & MinedState> {
  const through = engineChain(ctx, chain.blockchain)
  const from = addressOf(through, 'address', asked.address)
  const { at, call } = callOf(through, asked)
  const fields = { from, to: call.to, value: hexQuantity(call.valueAtomic), data: call.data }
  await requireGasCoins(chain, from)
  const gas = await chain.ask<string>('eth_estimateGas', [fields]).catch((error) => {
    throw invalid({ at, reason: `would fail on ${chain.blockchain}: ${messageOf(error)}` })
  })
  await chain.ask('anvil_impersonateAccount', [from])
  try {
    // The gas of a call can rise until its block.
    const sent = { ...fields, gas: hexQuantity((BigInt(gas) * 3n) / 2n) }
    const txHash = await chain.ask<string>('eth_sendTransaction', [sent])
    return { txHash, ...(await untilMined(chain, txHash)) }
  } finally {
    await chain.ask('anvil_stopImpersonatingAccount', [from])
  }
}

function callOf(chain: Chain, { transfer, call }: ImpersonateRequest): { at: string; call: Call } {
  if ((transfer === undefined) === (call === undefined))
    throw invalid({ at: 'transfer', reason: 'or call must be given, and not both' })
  if (transfer) {
    const { token, decimals } = coinOf(chain, transfer.token)
    const to = addressOf(chain, 'transfer.to', transfer.to)
    const amountAtomic = atomicOf('transfer.amount', transfer.amount, decimals)
    return { at: 'transfer', call: chain.payments.transferCall(to, amountAtomic, token) }
  }
  const { to, data, value } = call!
  const { decimals } = coinOf(chain, 'NATIVE')
  const valueAtomic = value === undefined ? 0n : atomicOf('call.value', value, decimals)
  return { at: 'call', call: { to: addressOf(chain, 'call.to', to), valueAtomic, data: data as Hex } }
}

async function requireGasCoins(chain: EvmLocalChain, from: Address): Promise<void> {
  if (BigInt(await chain.ask<string>('eth_getBalance', [from, 'latest'])) > 0n) return
  throw invalid({
    at: 'address',
    reason: `has no native coins on ${chain.blockchain} to pay gas with: give it some with POST /sandbox/faucet`,
    value: from,
  })
}
