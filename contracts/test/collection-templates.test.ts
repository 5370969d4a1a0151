import { type Hex, toFunctionSelector } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { requireTemplate } from '#api/contracts/templates/templates'
import { contractSignerAbi, contractSignerBytecode } from '#testing/artifacts/contract-signer'
import {
  collectionParameters,
  type Deployed,
  deployTemplate,
  templateIds,
  tokenParameters,
} from './template-calls.ts'
import { deploy } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { owner: admin, alice, bob } = people
const next = 2n ** 256n - 1n

let chain: TokenChain
let snapshot: Hex
let [erc20, erc721, erc1155] = [] as unknown as [Deployed, Deployed, Deployed]
beforeAll(async () => {
  chain = await startTokenChain()
  erc20 = await deployTemplate(chain, templateIds.erc20, tokenParameters)
  erc721 = await deployTemplate(chain, templateIds.erc721, collectionParameters)
  erc1155 = await deployTemplate(chain, templateIds.erc1155, collectionParameters)
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

describe('ERC-721', () => {
  test('numbers tokens from 0, never again, each with its URI', async () => {
    const { read, send } = erc721
    const { events } = await send(admin, 'mintTo', alice.address, 'ipfs://0')
    expect(events).toContainEqual({
      eventName: 'Transfer',
      args: { from: zeroAddress, to: alice.address, tokenId: 0n },
    })
    await send(alice, 'burn', 0n)
    await send(admin, 'mintTo', alice.address, 'ipfs://1')
    expect([await read('ownerOf', 1n), await read('tokenURI', 1n)]).toEqual([alice.address, 'ipfs://1'])
    expect([await read('balanceOf', alice.address), await read('nextTokenIdToMint')]).toEqual([1n, 2n])
  })

  test('lets the admin replace the URI of a token that exists', async () => {
    const { read, send, refusal } = erc721
    await send(admin, 'mintTo', alice.address, 'ipfs://0')
    expect(await refusal(alice, 'setTokenURI', 0n, 'ipfs://mine')).toBe('AccessControlUnauthorizedAccount')
    await send(admin, 'setTokenURI', 0n, 'ipfs://new')
    expect(await read('tokenURI', 0n)).toBe('ipfs://new')
    expect(await refusal(admin, 'setTokenURI', 1n, 'ipfs://new')).toBe('ERC721NonexistentToken')
  })
})

describe('ERC-1155', () => {
  test('creates the next id for the greatest number, and adds to an id that exists', async () => {
    const { read, send, refusal } = erc1155
    expect(await refusal(admin, 'mintTo', alice.address, 0n, 'ipfs://0', 5n)).toBe('UnknownTokenId')
    await send(admin, 'mintTo', alice.address, next, 'ipfs://0', 5n)
    await send(admin, 'mintTo', alice.address, 0n, 'ipfs://ignored', 2n)
    await send(admin, 'mintTo', bob.address, next, 'ipfs://1', 1n)
    expect([await read('uri', 0n), await read('uri', 1n)]).toEqual(['ipfs://0', 'ipfs://1'])
    const accounts = [alice.address, bob.address, bob.address]
    expect(await read('balanceOfBatch', accounts, [0n, 0n, 1n])).toEqual([7n, 0n, 1n])
    expect(await read('nextTokenIdToMint')).toBe(2n)
  })

  test('lets the admin replace the URI of a token that exists', async () => {
    const { read, send, refusal } = erc1155
    await send(admin, 'mintTo', alice.address, next, 'ipfs://0', 1n)
    expect(await refusal(alice, 'setTokenURI', 0n, 'ipfs://mine')).toBe('AccessControlUnauthorizedAccount')
    await send(admin, 'setTokenURI', 0n, 'ipfs://new')
    expect(await read('uri', 0n)).toBe('ipfs://new')
    expect(await refusal(admin, 'setTokenURI', 1n, 'ipfs://new')).toBe('UnknownTokenId')
  })

  test('moves batches, whole or not at all, by the holder or an approved operator', async () => {
    const { read, send, refusal } = erc1155
    await send(admin, 'mintTo', alice.address, next, 'ipfs://0', 5n)
    await send(admin, 'mintTo', alice.address, next, 'ipfs://1', 5n)
    const batch = (amounts: bigint[]) => [alice.address, bob.address, [0n, 1n], amounts, '0x'] as const
    const name = 'safeBatchTransferFrom'
    expect(await refusal(bob, name, ...batch([1n, 1n]))).toBe('ERC1155MissingApprovalForAll')
    expect(await refusal(alice, name, ...batch([1n, 6n]))).toBe('ERC1155InsufficientBalance')
    await send(alice, 'setApprovalForAll', bob.address, true)
    await send(bob, name, ...batch([2n, 5n]))
    expect(await read('balanceOfBatch', [alice.address, bob.address], [0n, 1n])).toEqual([3n, 5n])
  })
})

test('tokens are not sent into a contract that cannot hold them', async () => {
  const args = [people.alice.address]
  const deaf = await deploy(chain, contractSignerAbi, contractSignerBytecode, args)
  expect(await erc721.refusal(admin, 'mintTo', deaf, 'ipfs://0')).toBe('ERC721InvalidReceiver')
  expect(await erc1155.refusal(admin, 'mintTo', deaf, next, 'ipfs://0', 1n)).toBe('ERC1155InvalidReceiver')
})

test('a contract that could never be used is not created', async () => {
  const { abi, bytecode } = { abi: erc20.abi, bytecode: requireTemplate(templateIds.erc20).bytecode }
  const good = ['Gold', 'GLD', admin.address, bob.address, zeroAddress, 0n, '', [] as string[]]
  const bad: [number, unknown, string][] = [
    [2, zeroAddress, 'InvalidAdmin()'],
    [3, zeroAddress, 'InvalidRecipient()'],
    [5, 1n, 'InvalidRecipient()'],
    [7, [alice.address, zeroAddress], 'InvalidForwarder()'],
  ]
  for (const [index, value, error] of bad) {
    const creation = deploy(chain, abi, bytecode, good.with(index, value as never))
    await expect(creation).rejects.toThrow(toFunctionSelector(error))
  }
  expect(await deploy(chain, abi, bytecode, good)).toMatch(/^0x/)
})

test('calls cost hardly more gas than the storage that they write', async () => {
  const uri = `ipfs://${'b'.repeat(59)}/0.json`
  const move = [alice.address, bob.address, 0n, 1n, '0x'] as const
  const calls: [Deployed, number, PrivateKeyAccount, string, ...unknown[]][] = [
    [erc20, 75_000, admin, 'mintTo', alice.address, 100n],
    [erc20, 57_000, alice, 'transfer', bob.address, 1n],
    [erc721, 195_000, admin, 'mintTo', alice.address, uri],
    [erc721, 60_000, alice, 'transferFrom', alice.address, bob.address, 0n],
    [erc1155, 180_000, admin, 'mintTo', alice.address, next, uri, 9n],
    [erc1155, 63_000, alice, 'safeTransferFrom', ...move],
  ]
  for (const [token, gasMax, account, name, ...args] of calls) {
    const { gasUsed } = await token.send(account, name, ...args)
    expect([name, gasUsed, gasUsed <= gasMax]).toEqual([name, gasUsed, true])
  }
})
