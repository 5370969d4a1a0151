import { formatAmount } from '#lib/amounts'
import { devAccounts } from '#sandbox/constants'
import type { TestChain } from '#testing/platform/chain'
import { rpc } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import type { Program } from '#testing/processes/program'

const usdcDecimals = 6

/** A chain of a sandbox that runs as a program, as far as builders of burns and of unified balances use it: by its node and the faucet. */
export function sandboxChain({ answer, tenant }: Program, blockchain: string): TestChain {
  const { rpcUrl, chainId, tokens } = answer.chains.find((chain) => chain.blockchain === blockchain)!
  const ask = async <Result>(method: string, params: readonly unknown[] = []): Promise<Result> => {
    const result = await rpc<Result>(rpcUrl, method, params)
    if (method === 'eth_sendTransaction')
      await until(
        async () => (await rpc(rpcUrl, 'eth_getTransactionReceipt', [result])) !== null,
        'the transaction is mined',
      )
    return result
  }
  const send = async (to: string, amountAtomic: bigint): Promise<`0x${string}`> => {
    const amount = formatAmount(amountAtomic, usdcDecimals)
    const { status, body, text } = await tenant.http('POST', '/sandbox/faucet', {
      body: { address: to, blockchain, token: 'USDC', amount },
    })
    if (status >= 300) throw new Error(`the faucet answered ${status}: ${text}`)
    return body.data.txHash
  }
  const used = { blockchain, chainId, rpcUrl, tokens, rpc: ask, send, outsider: devAccounts.at(-1)!.address }
  return used as unknown as TestChain
}
