import type { LocalChain } from '../chains/index.ts'
import { faucetAccount } from '../constants.ts'
import type { ChainControl } from './control.ts'
import { explainNode, hexQuantity } from './control.ts'
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
  if (token === 'NATIVE') await refill(local, amountAtomic)
  const txHash = await faucet.pay(blockchain, address, token, amountAtomic)
  return { txHash, ...(await untilMined(local, txHash).catch(explainNode(local))) }
}

/** The native coins of the faucet are given to it: it cannot mint them, as it does others. */
async function refill(chain: LocalChain, amountAtomic: bigint): Promise<void> {
  const account = [faucetAccount.address, 'latest']
  const owned = BigInt(await chain.ask<string>('eth_getBalance', account).catch(explainNode(chain)))
  if (owned >= amountAtomic * 2n) return
  const filled = [faucetAccount.address, hexQuantity(owned + amountAtomic * 10n)]
  await chain.ask('anvil_setBalance', filled).catch(explainNode(chain))
}
