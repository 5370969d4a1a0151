import { generateKeyPairSync } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { tokenAddress } from '#chains/network'
import { solDevnet } from '#chains/networks/sol-devnet'
import { SolanaRpcError } from '#sandbox/chains/solana/errors'
import { openSolanaNode, type SolanaNode } from '#sandbox/chains/solana/index'
import { openAlteredAnswers } from '#testing/nodes/altered-answers'
import { openSolanaOracle } from '#testing/nodes/solana-oracle'
import { describeFamily } from './suite/describe-family.ts'
import type { FamilyEndpoint, FamilyUnderTest } from './suite/family-under-test.ts'

const { tokens, chainId } = solDevnet
const genesisHash = solDevnet.genesisHash!
const usdc = tokenAddress(tokens.find(({ symbol }) => symbol === 'USDC')!)
const sol = 10n ** 9n
const stranger = () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  return encodeBase58(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
}
/** Blocks after the one that a transaction names which may have it. */
const lifeBlocks = 150
/** Blocks that a fork of a local chain may take back. */
const forkMax = 32

describeFamily(
  'Solana',
  async (): Promise<FamilyUnderTest> => {
    const node = await openSolanaNode({ chainId, directory: undefined, clock: Date.now })
    const honest = await node.openEndpoint()
    const oracle = await openSolanaOracle(honest)
    node.fund(oracle.outsider, 1_000n * sol)
    node.fund(oracle.outsider, 10n ** 12n, usdc)
    node.mine()
    const faults = faultsOf(node)
    const release = async () => node.setBlocks('each_transaction')
    const empty = (blocks: number) => {
      for (let block = 0; block < blocks; block++) node.mine({ isEmpty: true })
    }
    return {
      network: solDevnet,
      rpcUrl: node.url,
      foreign: 'NEAR-TESTNET',
      plentyAtomic: sol,
      newHolderAtomic: 2_039_280n,
      badAddresses: [
        ['', /must be/],
        [stranger().slice(0, -2), /must be/],
        [`${stranger()}1`, /must be/],
        [` ${stranger()}`, /must be/],
        [stranger().replace(/.$/, '0'), /must be/],
        ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', /must be/],
        ['11111111111111111111111111111111', /is a program/],
        ['1nc1nerator11111111111111111111111111111111', /reserved/],
      ],
      stranger,
      outsider: oracle.outsider,
      send: oracle.send,
      balanceOf: oracle.balanceOf,
      transactionOf: oracle.transactionOf,
      blocks: {
        hold: async () => node.setBlocks('by_hand'),
        release,
        // A payment is complete after 33 blocks.
        mine: async () => {
          for (let block = 0; block < 4; block++) node.mine()
        },
      },
      node: {
        loseTransactions: (isLosing) => faults.set({ loses: isLosing }),
        dropAnswers: (drops) => faults.set({ drops }),
        submissions: faults.submissions,
        isPending: async (signature) => node.pending().includes(signature),
      },
      lifetimes: {
        passMost: async () => empty(lifeBlocks - 1),
        passAll: async () => empty(lifeBlocks + forkMax + 2),
        refuse: (why) => faults.set({ refuses: why !== 'nothing' }),
      },
      openEndpoint: () => openEndpoint(node),
      settle: async () => {
        faults.set(noFaults)
        await release()
      },
      close: node.close,
    }
  },
  { expires: true, displaces: false, hasFeePayers: true, replaces: false },
)

type NodeFaults = { loses: boolean; drops: 'of submissions' | 'all' | 'none'; refuses: boolean }
const noFaults: NodeFaults = { loses: false, drops: 'none', refuses: false }

/** The faults of the endpoint that the program asks; it counts submissions. */
function faultsOf(node: SolanaNode) {
  let state = noFaults
  let submissions = 0
  const set = (changes: Partial<NodeFaults>) => {
    state = { ...state, ...changes }
    const { loses, drops, refuses } = state
    node.setFaults({
      losesTransactions: loses,
      ...(drops !== 'none' && { dropsAnswers: drops === 'all' ? 'always' : 'submissions' }),
      answerInstead: ({ method }) => {
        if (method !== 'sendTransaction') return undefined
        submissions++
        if (refuses) throw new SolanaRpcError('preflight', 'Blockhash not found')
        return undefined
      },
    })
  }
  set({})
  return { set, submissions: () => submissions }
}

async function openEndpoint(node: SolanaNode): Promise<FamilyEndpoint> {
  const endpoint = await node.openEndpoint()
  // As the public cluster names itself, whose name this program compares.
  endpoint.setFaults({ genesisHash })
  const altered = await openAlteredAnswers(endpoint.url)
  return {
    url: altered.url,
    fail: async (fault) => {
      altered.alter(
        fault === 'lies'
          ? (text) =>
              text.replaceAll(/"postTokenBalances":\[(.*?)\]/g, (found) =>
                found.replaceAll(/"amount":"(\d+)"/g, (_, amount) => `"amount":"${amount}000"`),
              )
          : undefined,
      )
      endpoint.setFaults({
        genesisHash: fault === 'is of another chain' ? stranger() : genesisHash,
        ...(fault === 'lags' && { lagBlocks: 50 }),
        ...(fault === 'is away' && { dropsAnswers: 'always' as const }),
      })
    },
    close: async () => {
      await altered.close()
      await endpoint.close()
    },
  }
}
