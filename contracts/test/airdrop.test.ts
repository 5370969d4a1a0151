import fc from 'fast-check'
import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sizeOf } from '#testing/runner/size'
import {
  collectionParameters,
  type Deployed,
  deployTemplate,
  templateIds,
  tokenParameters,
} from './template-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { owner: admin, alice, bob, carol, stranger } = people
const next = 2n ** 256n - 1n

let chain: TokenChain
let snapshot: Hex
let airdrop: Deployed
const tokens = {} as Record<'erc20' | 'erc721' | 'erc1155', Deployed>
beforeAll(async () => {
  chain = await startTokenChain()
  airdrop = await deployTemplate(chain, templateIds.airdrop, {
    defaultAdmin: admin.address,
    contractURI: 'ipfs://about',
  })
  tokens.erc20 = await deployTemplate(chain, templateIds.erc20, tokenParameters)
  tokens.erc721 = await deployTemplate(chain, templateIds.erc721, collectionParameters)
  tokens.erc1155 = await deployTemplate(chain, templateIds.erc1155, collectionParameters)
  await tokens.erc20.send(admin, 'mintTo', alice.address, 100n)
  await tokens.erc721.send(admin, 'mintTo', alice.address, 'ipfs://0')
  await tokens.erc721.send(admin, 'mintTo', alice.address, 'ipfs://1')
  await tokens.erc1155.send(admin, 'mintTo', alice.address, next, 'ipfs://0', 100n)
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const content = {
  erc20: [
    { recipient: bob.address, amount: 60n },
    { recipient: carol.address, amount: 40n },
  ],
  erc721: [
    { recipient: bob.address, tokenId: 0n },
    { recipient: carol.address, tokenId: 1n },
  ],
  erc1155: [
    { recipient: bob.address, tokenId: 0n, amount: 60n },
    { recipient: carol.address, tokenId: 0n, amount: 40n },
  ],
}
const cases = [
  ['erc20', 'airdropERC20', ['approve', 100n], ['balanceOf', bob.address], 60n],
  ['erc721', 'airdropERC721', ['setApprovalForAll', true], ['ownerOf', 0n], bob.address],
  ['erc1155', 'airdropERC1155', ['setApprovalForAll', true], ['balanceOf', bob.address, 0n], 60n],
] as const

const approve = (kind: keyof typeof tokens, [name, value]: readonly [string, unknown]) =>
  tokens[kind].send(alice, name, airdrop.address, value)

test.each(cases)(
  '%s: %s sends to all recipients, in both spellings',
  async (kind, name, approval, check, got) => {
    const { address, read } = tokens[kind]
    const [checkName, ...checkArgs] = check
    for (const owner of [[], [alice.address]]) {
      const before = await chain.client.snapshot()
      await approve(kind, approval)
      await airdrop.send(alice, name, address, ...owner, content[kind])
      expect(await read(checkName, ...checkArgs)).toEqual(got)
      await chain.client.revert({ id: before })
    }
  },
)

test.each(cases)('%s: %s moves no tokens of another account', async (kind, name, approval) => {
  const { address } = tokens[kind]
  await approve(kind, approval)
  for (const caller of [admin, stranger]) {
    const named = airdrop.refusal(caller, name, address, alice.address, content[kind])
    expect(await named).toBe('CallerNotTokenOwner')
    const own = chain.client.simulateContract({
      address: airdrop.address,
      abi: airdrop.abi,
      functionName: name,
      args: [address, content[kind]],
      account: caller,
    })
    await expect(own).rejects.toThrow(/reverted/)
  }
})

test('a contract that is no token is refused', async () => {
  const send = airdrop.refusal(alice, 'airdropERC20', stranger.address, content.erc20)
  expect(await send).toBe('SafeERC20FailedOperation')
})

test('the owner is set by the owner, and describes the contract', async () => {
  const { read, send, refusal } = airdrop
  expect([await read('owner'), await read('contractURI')]).toEqual([admin.address, 'ipfs://about'])
  expect(await refusal(alice, 'setOwner', alice.address)).toBe('OwnableUnauthorizedAccount')
  expect(await refusal(alice, 'setContractURI', 'ipfs://new')).toBe('OwnableUnauthorizedAccount')
  expect(await refusal(admin, 'setOwner', zeroAddress)).toBe('OwnableInvalidOwner')
  await send(admin, 'setOwner', alice.address)
  await send(alice, 'setContractURI', 'ipfs://new')
  expect([await read('owner'), await read('contractURI')]).toEqual([alice.address, 'ipfs://new'])
})

test('a hundred recipients fit into a block', async () => {
  await approve('erc20', ['approve', 100n])
  const contents = Array.from({ length: 100 }, (_, index) => ({
    recipient: `0x${(index + 1).toString(16).padStart(40, 'a')}`,
    amount: 1n,
  }))
  const { gasUsed } = await airdrop.send(alice, 'airdropERC20', tokens.erc20.address, contents)
  expect(gasUsed / 100).toBeLessThan(40_000)
})

const runs = sizeOf('AIRDROP_RUNS', { usual: 8, deep: 60 })
const recipients = [bob.address, carol.address, alice.address]

test('an airdrop pays every recipient exactly, or none', async () => {
  const row = fc.record({
    recipient: fc.constantFrom(...recipients),
    amount: fc.oneof({ weight: 9, arbitrary: fc.bigInt(0n, 50n) }, fc.constantFrom(100n, next)),
  })
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const outcomes = { paid: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), fc.bigInt(20n, 200n), async (contents, allowed) => {
      const before = await chain.client.snapshot()
      const { address, read } = tokens.erc20
      await approve('erc20', ['approve', allowed])
      const held = () => Promise.all(recipients.map((account) => read('balanceOf', account)))
      const expected = [0n, 0n, 100n]
      // The books of a payer who may be a recipient, too.
      let fits = true
      for (const { recipient, amount } of contents) {
        fits &&= amount <= expected[2]!
        expected[2]! -= amount
        expected[recipients.indexOf(recipient)]! += amount
      }
      fits &&= sum(contents.map(({ amount }) => amount)) <= allowed
      const outcome = await airdrop.send(alice, 'airdropERC20', address, contents).then(
        () => 'paid' as const,
        () => 'refused' as const,
      )
      expect(outcome).toBe(fits ? 'paid' : 'refused')
      expect(await held()).toEqual(fits ? expected : [0n, 0n, 100n])
      outcomes[outcome]++
      await chain.client.revert({ id: before })
    }),
    // Shrinking would start on a chain that the failed run left changed.
    { seed: 47, numRuns: runs, endOnFailure: true },
  )
  expect(Math.min(outcomes.paid, outcomes.refused)).toBeGreaterThan(1)
})
