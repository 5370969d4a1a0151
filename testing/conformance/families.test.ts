import { aptosFamily } from '#chains/aptos/index'
import { families } from '#chains/families'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { networkOf } from '#chains/networks/index'
import { solDevnet } from '#chains/networks/sol-devnet'
import { createChains } from '#chains/registry'
import { solanaFamily } from '#chains/solana/index'
import { familyOfKey } from '#custody/families/index'
import type { Hex } from '#lib/hex'
import { openAptosNode } from '#sandbox/chains/aptos/index'
import { openSolanaNode } from '#sandbox/chains/solana/index'
import { headBlock } from '#sandbox/chains/solana/ledger'
import { openRpcProxy } from '#testing/adversary/proxy'
import { connectLedger, ledgerFamily } from '#testing/conformance/ledger/family'
import { ledgerKeys } from '#testing/conformance/ledger/keys'
import { monadTestnet as ledgerNetwork } from '#testing/conformance/ledger/network'
import { openLedgerNode } from '#testing/conformance/ledger/node'
import { aptosChainOf } from '#testing/nodes/aptos-chain'
import { startTestChains } from '#testing/platform/chain'
import { type ChainUnderTest, describeChain } from './describe-chain.ts'

describeChain('EVM', async (): Promise<ChainUnderTest> => {
  const network = networkOf('BASE-SEPOLIA')!
  const local = await startTestChains({ blockchains: [network.blockchain] })
  const node = local.chains[0]!
  const proxy = await openRpcProxy(node.rpcUrl, async ({ forward }) => ({ answers: await forward() }))
  const chains = createChains([{ network, rpcUrl: proxy.url, local: true }])
  const chain = chains.list()[0]!
  await node.setAutomine(false)
  return {
    chain,
    declaration: families.evm!,
    keys: familyOfKey({ family: 'evm' }),
    token: node.tokens.USDC.toLowerCase(),
    funds: 10n ** 18n,
    fund: async (address, amountAtomic, token) => {
      await node.setAutomine(true)
      await node.send(address, amountAtomic, token === undefined ? undefined : 'USDC')
      await node.setAutomine(false)
    },
    mine: () => node.mine(),
    rewind: (blocks) => node.reorg(blocks),
    away: (isAway) => (isAway ? proxy.down() : proxy.up()),
    close: async () => {
      await chain.endpoints.close()
      await proxy.close()
      await local.stop()
    },
  }
})

describeChain('a ledger', async (): Promise<ChainUnderTest> => {
  const node = await openLedgerNode()
  node.ledger.automine = false
  const depths = { confirmations: 1, finalityDepth: 1 }
  return {
    chain: connectLedger({ network: ledgerNetwork, rpcUrl: node.url, ...depths, local: true }),
    declaration: ledgerFamily,
    keys: ledgerKeys,
    token: ledgerNetwork.tokens[0]!.address.toLowerCase(),
    funds: 10n ** 18n,
    fund: async (...funds) => node.ledger.fund(...funds),
    mine: async () => void node.ledger.mine(),
    rewind: async (blocks) => node.ledger.rewind(blocks),
    away: async (isAway) => {
      node.away = isAway
    },
    close: node.close,
  }
})

describeChain(
  'Aptos',
  async (): Promise<ChainUnderTest> => {
    const node = await openAptosNode({
      chainId: aptosTestnet.chainId,
      directory: undefined,
      clock: Date.now,
      blocks: 'by_hand',
    })
    const mine = () => {
      // A block has one transaction of each sender.
      do node.mine()
      while (node.pool().length > 0)
    }
    const chain = aptosChainOf([node.url])
    return {
      chain,
      declaration: aptosFamily,
      keys: familyOfKey({ family: 'aptos' }),
      token: aptosTestnet.tokens[0]!.address,
      funds: 10n ** 8n,
      fund: async (address, amountAtomic, token) => {
        node.fund(address as Hex, amountAtomic, token as Hex | undefined)
        mine()
      },
      mine: async () => mine(),
      away: async (isAway) => node.setFaults(isAway ? { dropsAnswers: 'always' } : {}),
      close: async () => {
        await chain.endpoints.close()
        await node.close()
      },
    }
  },
  { hasReorgs: false },
)

describeChain(
  'Solana',
  async (): Promise<ChainUnderTest> => {
    const { chainId, tokens } = solDevnet
    const node = await openSolanaNode({ chainId, directory: undefined, clock: Date.now, blocks: 'by_hand' })
    node.setSkips(30)
    const depths = { confirmations: 1, finalityDepth: 1 }
    const chain = solanaFamily.connect!({ network: solDevnet, rpcUrl: node.url, ...depths, local: true })
    return {
      chain,
      declaration: solanaFamily,
      keys: familyOfKey({ family: 'solana' }),
      token: tokens[0]!.address,
      funds: 10n ** 10n,
      leastAtomic: 890_880n,
      fund: async (address, amountAtomic, token) => {
        node.fund(address, amountAtomic, token)
        node.mine()
      },
      mine: async () => void node.mine(),
      rewind: async (blocks) => {
        const { height } = headBlock(node.ledger())
        node.fork(node.ledger().blocks[height - blocks]!.slot)
        node.mine()
      },
      away: async (isAway) => node.setFaults(isAway ? { dropsAnswers: 'always' } : {}),
      close: async () => {
        await chain.endpoints.close()
        await node.close()
      },
    }
  },
  { hasOrder: false },
)
