import { randomBytes } from 'node:crypto'
import { tokenAddress } from '#chains/network'
import { avaxFuji } from '#chains/networks/avax-fuji'
import { falseContents, faults, openHostileRpc } from '#testing/adversary/index'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { describeFamily } from './suite/describe-family.ts'
import type { FamilyEndpoint, FamilyUnderTest } from './suite/family-under-test.ts'

const { blockchain, tokens } = avaxFuji
const usdc = tokenAddress(tokens.find(({ symbol }) => symbol === 'USDC')!)
const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const methods = ['eth_sendRawTransaction']

describeFamily(
  'EVM',
  async (): Promise<FamilyUnderTest> => {
    const local = await startTestChains({ blockchains: [blockchain] })
    const chain = local.chains[0]!
    const node = await openHostileRpc(chain.rpcUrl)
    const tokenOf = (address?: string) => (address === usdc ? ('USDC' as const) : undefined)
    const release = async () => {
      await chain.setAutomine(true)
      await chain.mine()
    }
    return {
      network: avaxFuji,
      rpcUrl: node.url,
      foreign: 'NEAR-TESTNET',
      plentyAtomic: 10n ** 18n,
      newHolderAtomic: 0n,
      badAddresses: [
        ['', /must be/],
        [checksummed.slice(2), /must be/],
        [checksummed.slice(0, -1), /must be/],
        [`${checksummed.toLowerCase()}0`, /must be/],
        [checksummed.replace('F', 'f'), /must be/],
        [` ${checksummed}`, /must be/],
        ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', /must be/],
        [`0x${'0'.repeat(40)}`, /reserved/],
        [`0x${'1'.padStart(40, '0')}`, /reserved/],
      ],
      stranger: () => `0x${randomBytes(20).toString('hex')}`,
      outsider: chain.outsider.toLowerCase(),
      send: (to, amountAtomic, token) => chain.send(to, amountAtomic, tokenOf(token)),
      balanceOf: (address, token) => chain.oracle.balanceOf(address, token),
      transactionOf: async (hash) => {
        const found = (await chain.oracle.transactions()).find((each) => each.hash === hash)
        return found && { sender: found.from, success: found.success }
      },
      blocks: { hold: () => chain.setAutomine(false), release, mine: () => chain.mine() },
      node: {
        loseTransactions: (isLosing) => node.play(...(isLosing ? [{ fault: faults.swallowed }] : [])),
        dropAnswers: (which) =>
          node.play(
            ...(which === 'none'
              ? []
              : [{ fault: faults.resetAfter, ...(which === 'of submissions' && { methods }) }]),
          ),
        submissions: () => node.rawTransactions.length,
        isPending: async (hash) => {
          const found = await chain.rpc<{ blockHash: string | null } | null>('eth_getTransactionByHash', [
            hash,
          ])
          return found?.blockHash === null
        },
      },
      displace: async (from) => {
        await chain.rpc('anvil_impersonateAccount', [from])
        await chain.rpc('eth_sendTransaction', [{ from, to: from, value: '0x1' }])
        await chain.rpc('anvil_stopImpersonatingAccount', [from])
        await chain.mine()
      },
      openEndpoint: () => openEndpoint(chain),
      settle: async () => {
        node.play()
        await release()
      },
      close: async () => {
        await node.close()
        await local.stop()
      },
    }
  },
  { expires: false, displaces: true, hasFeePayers: false, replaces: true, hasBusinessAccount: true },
)

async function openEndpoint(chain: TestChain): Promise<FamilyEndpoint> {
  const node = await openHostileRpc(chain.rpcUrl)
  const [moreMoved] = falseContents(chain.outsider)
  let other: Awaited<ReturnType<typeof startTestChains>> | undefined
  return {
    url: node.url,
    fail: async (fault) => {
      await node.up()
      node.leadTo(chain.rpcUrl)
      node.play()
      if (fault === 'is away') await node.down()
      if (fault === 'lags') node.play({ fault: faults.staleHead(50) })
      if (fault === 'lies') node.play({ fault: moreMoved! })
      if (fault !== 'is of another chain') return
      other ??= await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
      node.leadTo(other.chains[0]!.rpcUrl)
    },
    close: async () => {
      await node.close()
      await other?.stop()
    },
  }
}
