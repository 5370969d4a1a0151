import { randomBytes } from 'node:crypto'
import { tokenAddress } from '#chains/network'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import type { Hex } from '#lib/hex'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import { latestBlock } from '#sandbox/chains/aptos/ledger'
import { openAlteredAnswers } from '#testing/nodes/altered-answers'
import { addressOfAccount, aptosClient } from '#testing/nodes/aptos-clients'
import { padded } from '#testing/nodes/aptos-oracle'
import { Account, type Aptos } from '#testing/nodes/aptos-sdk'
import { describeFamily } from './suite/describe-family.ts'
import type { FamilyEndpoint, FamilyUnderTest } from './suite/family-under-test.ts'

const { tokens, chainId } = aptosTestnet
const usdc = tokenAddress(tokens.find(({ symbol }) => symbol === 'USDC')!)
const apt = 10n ** 8n
const lifeMs = 600_000
const stranger = () => `0x${randomBytes(32).toString('hex')}` as Hex

describeFamily(
  'Aptos',
  async (): Promise<FamilyUnderTest> => {
    let leadMs = 0
    const nowMs = () => Date.now() + leadMs
    const node = await openAptosNode({ chainId, directory: undefined, clock: nowMs })
    const honest = await node.openEndpoint()
    const aptos = aptosClient(honest)
    const faults = faultsOf(node)
    const outsider = Account.generate()
    node.fund(addressOfAccount(outsider), 1_000n * apt)
    node.fund(addressOfAccount(outsider), 10n ** 12n, usdc as Hex)
    const release = async () => node.setBlocks('each_transaction')
    return {
      network: aptosTestnet,
      rpcUrl: node.url,
      foreign: 'NEAR-TESTNET',
      plentyAtomic: apt,
      newHolderAtomic: 0n,
      badAddresses: [
        ['', /must be/],
        [stranger().slice(2), /must be/],
        [stranger().slice(0, -1), /must be/],
        [`${stranger()}0`, /must be/],
        ['0x10', /must be/],
        [` ${stranger()}`, /must be/],
        ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', /must be/],
        ['0x1', /reserved/],
        [`0x${'a'.padStart(64, '0')}`, /reserved/],
      ],
      stranger,
      outsider: addressOfAccount(outsider),
      send: (...payment) => sendBy(aptos, outsider, Math.ceil(nowMs() / 1_000) + 60, ...payment),
      balanceOf: async (accountAddress, token = '0xa') =>
        BigInt(
          await aptos.getBalance({
            accountAddress,
            asset: token as '0xa' & `${string}::${string}::${string}`,
          }),
        ),
      transactionOf: async (transactionHash) => {
        const found = await aptos.getTransactionByHash({ transactionHash }).catch(() => undefined)
        return found?.type === 'user_transaction'
          ? { sender: padded(found.sender), success: found.success }
          : undefined
      },
      blocks: {
        hold: async () => node.setBlocks('by_hand'),
        release,
        mine: async () => void node.mine(),
      },
      node: {
        loseTransactions: (isLosing) => faults.set({ loses: isLosing }),
        dropAnswers: (drops) => faults.set({ drops }),
        submissions: faults.submissions,
        isPending: async (hash) => node.pool().includes(hash),
      },
      lifetimes: {
        passMost: async () => {
          const headMs = Number(latestBlock(node.ledger()).timestampUs / 1_000n)
          leadMs += headMs + lifeMs - 5_000 - nowMs()
        },
        passClock: () => {
          leadMs += 30_000
        },
        passAll: async () => {
          leadMs += lifeMs + 20_000
          node.forgetPool()
          node.mine()
        },
        passSome: async () => {
          leadMs += 5_000
          node.mine({ isEmpty: true })
        },
        refuse: (refuses) => faults.set({ refuses }),
      },
      openEndpoint: () => openEndpoint(node),
      settle: async () => {
        faults.set(noFaults)
        await release()
      },
      close: node.close,
    }
  },
  { expires: true, displaces: false, hasFeePayers: true, replaces: true, hasBusinessAccount: false },
)

const refusal = (code: number) => ({
  status: 400,
  json: { message: `status ${code}`, error_code: 'vm_error', vm_error_code: code },
})
/** Statuses of the virtual machine: the second is that of less gas than any transaction needs. */
const refusals = { expired: refusal(6), 'for good': refusal(14), nothing: undefined }

type NodeFaults = {
  loses: boolean
  drops: 'of submissions' | 'all' | 'none'
  refuses: keyof typeof refusals
}
const noFaults: NodeFaults = { loses: false, drops: 'none', refuses: 'nothing' }

/** The faults of the endpoint that the program asks; it counts submissions. */
function faultsOf(node: AptosNode) {
  let state = noFaults
  let submissions = 0
  const set = (changes: Partial<NodeFaults>) => {
    state = { ...state, ...changes }
    const { loses, drops, refuses } = state
    node.setFaults({
      losesTransactions: loses,
      ...(drops !== 'none' && { dropsAnswers: drops === 'all' ? 'always' : 'submissions' }),
      answerInstead: ({ method, path }) => {
        if (method !== 'POST' || path !== '/v1/transactions') return undefined
        submissions++
        return refusals[refuses]
      },
    })
  }
  set({})
  return { set, submissions: () => submissions }
}

async function sendBy(
  aptos: Aptos,
  sender: Account,
  expireTimestamp: number,
  to: string,
  amountAtomic: bigint,
  token?: string,
): Promise<string> {
  const amount = Number(amountAtomic)
  const options = { expireTimestamp }
  const transaction =
    token === undefined
      ? await aptos.transferCoinTransaction({ sender: sender.accountAddress, recipient: to, amount, options })
      : await aptos.transferFungibleAsset({
          sender,
          fungibleAssetMetadataAddress: token,
          recipient: to,
          amount,
          options,
        })
  const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  await aptos.waitForTransaction({ transactionHash: hash, options: { waitForIndexer: false } })
  return hash
}

async function openEndpoint(node: AptosNode): Promise<FamilyEndpoint> {
  const endpoint = await node.openEndpoint()
  const altered = await openAlteredAnswers(endpoint.faucetUrl)
  return {
    url: `${altered.url}/v1`,
    fail: async (fault) => {
      altered.alter(
        fault === 'lies'
          ? (text) => text.replaceAll(/"amount":"(\d+)"/g, (_, amount) => `"amount":"${amount}000"`)
          : undefined,
      )
      endpoint.setFaults({
        ...(fault === 'lags' && { lagBlocks: 50 }),
        ...(fault === 'is of another chain' && { chainId: 4 }),
        ...(fault === 'is away' && { dropsAnswers: 'always' as const }),
      })
    },
    close: async () => {
      await altered.close()
      await endpoint.close()
    },
  }
}
