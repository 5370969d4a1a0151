import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { tokenAddress } from '#chains/network'
import { solDevnet } from '#chains/networks/sol-devnet'
import { associatedAccountOf } from '#chains/solana/derived-addresses'
import { programIds } from '#chains/solana/programs'
import { SolanaRpcError } from '#sandbox/chains/solana/errors'
import { openSolanaNode, type SolanaNode } from '#sandbox/chains/solana/index'
import { headBlock } from '#sandbox/chains/solana/ledger'
import { openAlteredAnswers } from '#testing/nodes/altered-answers'
import { openSolanaOracle } from '#testing/nodes/solana-oracle'
import { until } from '#testing/platform/until'
import { describeFamily } from './suite/describe-family.ts'
import type { FamilyEndpoint, FamilyUnderTest } from './suite/family-under-test.ts'
import { untilBooksAgree, untilReceived } from './suite/payments.ts'
import type { FamilyPlatform, FamilyWallet } from './suite/platform.ts'

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

let node: SolanaNode

/** Makes four blocks a call: a payment is complete after 33. A long wait gets fewer, so that the worker of a busy machine can follow. */
function minerOf(node: SolanaNode): () => Promise<void> {
  let [begunMs, lastMs] = [0, 0]
  return async () => {
    const nowMs = performance.now()
    if (nowMs - lastMs > 3_000) begunMs = nowMs
    if (nowMs - begunMs > 10_000 && nowMs - lastMs < 2_000) return
    lastMs = nowMs
    for (let block = 0; block < 4; block++) node.mine()
  }
}

describeFamily(
  'Solana',
  async (): Promise<FamilyUnderTest> => {
    node = await openSolanaNode({ chainId, directory: undefined, clock: Date.now })
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
        mine: minerOf(node),
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
  { expires: true, displaces: false, hasFeePayers: true, replaces: false, hasBusinessAccount: true },
  describeLanes,
)

/** Payments in any order, each as long as its block is recent: the traps of this network. */
function describeLanes(run: () => FamilyPlatform): void {
  describe('property 237: payments without an order', () => {
    let wallet: FamilyWallet
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })

    it('are distinct however equal they are, and none waits for another', async () => {
      const { family, usdc, transfer, reaches, read } = run()
      const to = family.stranger()
      await family.blocks.hold()
      family.node.loseTransactions(true)
      const lost = await transfer({ from: wallet, to, amount: '0.01' })
      await reaches(lost, 'SENT')
      family.node.loseTransactions(false)
      const equal = await Promise.all(
        Array.from({ length: 30 }, () => transfer({ from: wallet, to, amount: '0.01' })),
      )
      for (const id of equal) await reaches(id, 'SENT')
      node.mine()
      for (const id of equal) await reaches(id, 'COMPLETE')
      expect(new Set(await Promise.all(equal.map(async (id) => (await read(id)).txHash))).size).toBe(30)
      // A slow machine has sent the lost one again before the block.
      expect([300_000n, 310_000n]).toContain(await family.balanceOf(to, usdc.address))
      await family.blocks.release()
      await reaches(lost, 'COMPLETE')
      expect(await family.balanceOf(to, usdc.address)).toBe(310_000n)
    })

    it('return from a block that a fork takes back, and are paid once', async () => {
      const { family, transfer, reaches, expectPaid, read } = run()
      const wish = { from: wallet, to: family.stranger(), amount: '0.02' }
      await family.blocks.hold()
      const id = await transfer(wish)
      await reaches(id, 'SENT')
      const { slot } = headBlock(node.ledger())
      node.mine()
      await reaches(id, 'COMPLETE')
      const { blockHash, txHash } = await read(id)
      const { lanes } = await run().call('GET', `/operator/movements/${id}/timeline`)
      expect(JSON.stringify(lanes)).toContain(blockHash)
      node.setSkips(30)
      node.fork(slot, { returns: false })
      node.mine({ isEmpty: true })
      await until(async () => (await read(id)).state === 'SENT', 'its block is taken back')
      await family.blocks.release()
      await reaches(id, 'COMPLETE')
      expect(await read(id)).toMatchObject({ txHash, blockHash: expect.not.stringMatching(blockHash) })
      await expectPaid(id, wish)
      node.setSkips(0)
    })

    it('that cannot leave the rent of an account fail before anything is signed', async () => {
      const { family, native, transfer, askTransfer, reaches, read, newWallets } = run()
      const tokenId = native.id
      const to = family.stranger()
      const { status, body } = await askTransfer({ from: wallet, to, amount: '0.000890879', tokenId })
      expect([status, body.code, body.errors[0].location]).toEqual([400, 155257, 'amounts[0]'])
      expect(body.message).toContain('must be at least 0.00089088 SOL-DEVNET')
      // The rent of its own account: of a wallet that others could not pay less.
      const [left] = await newWallets(1)
      await untilReceived(run(), left!, await family.send(left!.address, 3_000_000n))
      const sub = await transfer({ from: left!, to: wallet.address, amount: '0.0025', tokenId })
      await reaches(sub, 'FAILED')
      expect(await read(sub)).toMatchObject({ errorReason: 'ESTIMATION_ERROR', networkFee: '' })
      expect((await read(sub)).errorDetails).toContain('890880 lamports')
      await reaches(await transfer({ from: wallet, to, amount: '0.00089088', tokenId }), 'COMPLETE')
      expect(await family.balanceOf(to)).toBe(890_880n)
      // The fee and its own rent are there, and not the rent of the account that the recipient lacks.
      const [poor] = await newWallets(1)
      await family.send(poor!.address, 2_000_000n)
      await untilReceived(run(), poor!, await family.send(poor!.address, 1_000_000n, run().usdc.address))
      const without = await transfer({ from: poor!, to: family.stranger(), amount: '0.5' })
      await reaches(without, 'FAILED')
      expect(await read(without)).toMatchObject({ errorReason: 'INSUFFICIENT_NATIVE_TOKEN', networkFee: '' })
      await reaches(await transfer({ from: poor!, to: wallet.address, amount: '0.5' }), 'COMPLETE')
    })

    it('fail in their block where the issuer has frozen an account, and cost the fee alone', async () => {
      const { family, usdc, transfer, reaches, read } = run()
      const to = family.stranger()
      await reaches(await transfer({ from: wallet, to, amount: '0.03' }), 'COMPLETE')
      await family.blocks.hold()
      const id = await transfer({ from: wallet, to, amount: '0.03' })
      await reaches(id, 'SENT')
      // A block executes transactions in the order of their arrival: the freeze has to be in a block before.
      const [signature] = node.pending()
      const frozen = associatedAccountOf(to, usdc.address, programIds.token)
      node.forgetPending(signature)
      node.freeze(usdc.address, frozen, true)
      node.mine()
      await family.blocks.release()
      await reaches(id, 'FAILED')
      expect(await read(id)).toMatchObject({ errorReason: 'FAILED_ON_CHAIN' })
      expect(Number((await read(id)).networkFee)).toBeGreaterThan(0)
      expect(await family.balanceOf(to, usdc.address)).toBe(30_000n)
      await untilBooksAgree(run(), wallet)
    })

    it('are neither accelerated nor cancelled once they are signed', async () => {
      const { family, ask, transfer, reaches } = run()
      await family.blocks.hold()
      const id = await transfer({ from: wallet, to: family.stranger(), amount: '0.04' })
      await reaches(id, 'SENT')
      for (const verb of ['accelerate', 'cancel']) {
        const { status, body } = await ask(`/v1/w3s/developer/transactions/${id}/${verb}`, {})
        expect([status, body.code]).toEqual([400, 155215])
      }
      await family.blocks.release()
      await reaches(id, 'COMPLETE')
    })
  })
}

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
