import type { ChainControl } from './control.ts'
import { explainNode } from './control.ts'
import { type MinedState, untilMined } from './mined.ts'
import { addressOf, atomicOf, type Coin, coinOf, engineChain } from './payment.ts'

type FaucetRequest = { address: string; blockchain: string; token: Coin; amount: string }

/** Pays any amount of a coin; resolves once the transaction is mined, or accepted by a chain that is paused. */
export async function payAny(
  { ctx, chain, faucet }: ChainControl,
  asked: FaucetRequest,
): Promise<{ txHash: string } & MinedState> {
  const { blockchain, token } = asked
  const local = chain(blockchain)
  const through = engineChain(ctx, blockchain)
  const address = addressOf(through, 'address', asked.address)
  const amountAtomic = atomicOf('amount', asked.amount, coinOf(through, token).decimals)
  if (token === 'NATIVE') await local.refillFaucet(amountAtomic).catch(explainNode(local))
  const txHash = await faucet.pay(blockchain, address, token, amountAtomic)
  return { txHash, ...(await untilMined(local, txHash).catch(explainNode(local))) }
}
