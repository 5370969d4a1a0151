import { type Hex, keccak256, toBytes, toFunctionSelector } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  adminRole,
  collectionParameters,
  type Deployed,
  deployTemplate,
  templateIds,
  tokenParameters,
} from './template-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { owner: admin, alice, bob, carol, stranger: forwarder, minter } = people
const role = (name: string) => keccak256(toBytes(name))
const [minterRole, transferRole] = [role('MINTER_ROLE'), role('TRANSFER_ROLE')]
const greatest = 2n ** 256n - 1n

let chain: TokenChain
let snapshot: Hex
const tokens = {} as Record<'erc20' | 'erc721' | 'erc1155', Deployed>
beforeAll(async () => {
  chain = await startTokenChain()
  const extras = {
    platformFeeRecipient: bob.address,
    platformFeePercent: 0.025,
    contractUri: 'ipfs://about',
    trustedForwarders: [minter.address, forwarder.address],
  }
  tokens.erc20 = await deployTemplate(chain, templateIds.erc20, { ...tokenParameters, ...extras })
  tokens.erc721 = await deployTemplate(chain, templateIds.erc721, { ...collectionParameters, ...extras })
  tokens.erc1155 = await deployTemplate(chain, templateIds.erc1155, { ...collectionParameters, ...extras })
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const kinds = ['erc20', 'erc721', 'erc1155'] as const
type Kind = (typeof kinds)[number]

/** One unit of each kind, created for and moved between accounts. */
const mint: Record<Kind, (to: Hex) => [string, ...unknown[]]> = {
  erc20: (to) => ['mintTo', to, 1n],
  erc721: (to) => ['mintTo', to, 'ipfs://1'],
  erc1155: (to) => ['mintTo', to, greatest, 'ipfs://1', 1n],
}
const move: Record<Kind, (from: Hex, to: Hex) => [string, ...unknown[]]> = {
  erc20: (_, to) => ['transfer', to, 1n],
  erc721: (from, to) => ['safeTransferFrom', from, to, 0n],
  erc1155: (from, to) => ['safeTransferFrom', from, to, 0n, 1n, '0x'],
}
const burn: Record<Kind, (of: Hex) => [string, ...unknown[]]> = {
  erc20: () => ['burn', 1n],
  erc721: () => ['burn', 0n],
  erc1155: (of) => ['burn', of, 0n, 1n],
}

describe.each(kinds)('the template of %s', (kind) => {
  test('stores the parameters of its deployment', async () => {
    const { read } = tokens[kind]
    expect([await read('name'), await read('symbol')]).toEqual(['Gold Coins', 'GLD'])
    expect(await read('contractURI')).toBe('ipfs://about')
    expect(await read('primarySaleRecipient')).toBe(carol.address)
    expect(await read('getPlatformFeeInfo')).toEqual([bob.address, 250])
    expect([await read('MINTER_ROLE'), await read('TRANSFER_ROLE')]).toEqual([minterRole, transferRole])
    for (const each of [adminRole, minterRole, transferRole])
      expect([each, await read('hasRole', each, admin.address)]).toEqual([each, true])
    expect(await read('isTrustedForwarder', minter.address)).toBe(true)
    expect(await read('isTrustedForwarder', forwarder.address)).toBe(true)
    expect(await read('isTrustedForwarder', zeroAddress)).toBe(false)
    expect(await read('isTrustedForwarder', alice.address)).toBe(false)
  })

  test('lets minters mint, whom the admin appoints and dismisses', async () => {
    const { send, refusal } = tokens[kind]
    const unauthorized = 'AccessControlUnauthorizedAccount'
    expect(await refusal(alice, ...mint[kind](bob.address))).toBe(unauthorized)
    expect(await refusal(alice, 'grantRole', minterRole, alice.address)).toBe(unauthorized)
    await send(admin, 'grantRole', minterRole, alice.address)
    await send(alice, ...mint[kind](bob.address))
    await send(admin, 'revokeRole', minterRole, alice.address)
    expect(await refusal(alice, ...mint[kind](bob.address))).toBe(unauthorized)
  })

  test('moves and burns for holders only', async () => {
    const { send, refusal } = tokens[kind]
    await send(admin, ...mint[kind](alice.address))
    expect(await refusal(bob, ...move[kind](alice.address, bob.address))).toMatch(
      /^(ERC20InsufficientBalance|ERC721InsufficientApproval|ERC1155MissingApprovalForAll)$/,
    )
    expect(await refusal(bob, ...burn[kind](alice.address))).toMatch(/Insufficient|MissingApproval/)
    await send(alice, ...move[kind](alice.address, bob.address))
    await send(bob, ...burn[kind](bob.address))
    expect(await refusal(bob, ...burn[kind](bob.address))).toMatch(/Insufficient|NonexistentToken/)
  })

  test('restricts transfers to accounts with TRANSFER_ROLE once the zero address has lost it', async () => {
    const { send, refusal } = tokens[kind]
    await send(admin, ...mint[kind](alice.address))
    await send(admin, 'revokeRole', transferRole, zeroAddress)
    expect(await refusal(alice, ...move[kind](alice.address, bob.address))).toBe('TransferRestricted')
    await send(admin, 'grantRole', transferRole, carol.address)
    await send(alice, ...move[kind](alice.address, carol.address))
    await send(carol, ...move[kind](carol.address, bob.address))
    expect(await refusal(bob, ...move[kind](bob.address, alice.address))).toBe('TransferRestricted')
    // Minting and burning go on.
    await send(bob, ...burn[kind](bob.address))
    await send(admin, ...mint[kind](bob.address))
    await send(admin, 'grantRole', transferRole, zeroAddress)
  })

  test('takes the account that a trusted forwarder appends as the sender', async () => {
    const { address, abi, read } = tokens[kind]
    const { client } = chain
    const setUri = { address, abi, functionName: 'setContractURI', args: ['ipfs://new'] }
    const append = (suffix: Hex) =>
      client.simulateContract({ ...setUri, account: forwarder, dataSuffix: suffix })
    await expect(append('0x')).rejects.toThrow('AccessControlUnauthorizedAccount')
    await expect(append(alice.address)).rejects.toThrow('AccessControlUnauthorizedAccount')
    await client.writeContractSync({ ...setUri, account: forwarder, dataSuffix: admin.address })
    expect(await read('contractURI')).toBe('ipfs://new')
    const byOther = client.simulateContract({ ...setUri, account: alice, dataSuffix: admin.address })
    await expect(byOther).rejects.toThrow('AccessControlUnauthorizedAccount')
  })

  test('lets only the admin change its settings, within bounds', async () => {
    const { read, send, refusal } = tokens[kind]
    const settings: [string, unknown[]][] = [
      ['setContractURI', ['ipfs://new']],
      ['setPrimarySaleRecipient', [alice.address]],
      ['setPlatformFeeInfo', [alice.address, 10_000n]],
      ...(kind === 'erc20'
        ? []
        : ([
            ['setDefaultRoyaltyInfo', [alice.address, 10_000n]],
            ['setRoyaltyInfoForToken', [7n, alice.address, 1n]],
          ] as [string, unknown[]][])),
    ]
    for (const [name, args] of settings) {
      expect([name, await refusal(alice, name, ...args)]).toEqual([name, 'AccessControlUnauthorizedAccount'])
      expect((await send(admin, name, ...args)).events).toHaveLength(1)
    }
    expect(await read('getPlatformFeeInfo')).toEqual([alice.address, 10_000])
    expect(await refusal(admin, 'setPlatformFeeInfo', alice.address, 10_001n)).toBe('InvalidShare')
    expect(await refusal(admin, 'setPlatformFeeInfo', zeroAddress, 1n)).toBe('InvalidRecipient')
    await send(admin, 'setPlatformFeeInfo', zeroAddress, 0n)
    expect(await refusal(admin, 'setPrimarySaleRecipient', zeroAddress)).toBe('InvalidRecipient')
  })
})

describe.each(['erc721', 'erc1155'] as const)('royalties of %s', (kind) => {
  test('are those of the deployment, of the setting, or of the one token', async () => {
    const { read, send, refusal } = tokens[kind]
    expect(await read('royaltyInfo', 0n, 1_000n)).toEqual([carol.address, 50n])
    await send(admin, 'setDefaultRoyaltyInfo', bob.address, 100n)
    await send(admin, 'setRoyaltyInfoForToken', 7n, alice.address, 250n)
    expect(await read('royaltyInfo', 0n, 1_000n)).toEqual([bob.address, 10n])
    expect(await read('royaltyInfo', 7n, 1_000n)).toEqual([alice.address, 25n])
    expect(await refusal(admin, 'setDefaultRoyaltyInfo', bob.address, 10_001n)).toBe(
      'ERC2981InvalidDefaultRoyalty',
    )
  })
})

const erc165 = { erc165: '0x01ffc9a7', accessControl: '0x7965db0b' }
const interfaces = {
  erc20: erc165,
  erc721: {
    ...erc165,
    erc721: '0x80ac58cd',
    metadata: '0x5b5e139f',
    erc4906: '0x49064906',
    erc2981: '0x2a55205a',
  },
  erc1155: { ...erc165, erc1155: '0xd9b67a26', metadataUri: '0x0e89341c', erc2981: '0x2a55205a' },
}

test('each template reports its interfaces and has the documented functions', async () => {
  for (const kind of kinds) {
    const { abi, read } = tokens[kind]
    for (const [name, id] of Object.entries({ ...interfaces[kind] }))
      expect([kind, name, await read('supportsInterface', id)]).toEqual([kind, name, true])
    expect(await read('supportsInterface', '0xffffffff')).toBe(false)
    const selectors = abi
      .filter(({ type }) => type === 'function')
      .map((item) => toFunctionSelector(item as never))
    for (const signature of documented[kind])
      expect([kind, signature, selectors.includes(toFunctionSelector(signature))]).toEqual([
        kind,
        signature,
        true,
      ])
  }
})

const ofRoles = ['grantRole(bytes32,address)', 'revokeRole(bytes32,address)']
const documented = {
  erc20: [
    ...ofRoles,
    'approve(address,uint256)',
    'transfer(address,uint256)',
    'mintTo(address,uint256)',
    'burn(uint256)',
    'balanceOf(address)',
    'allowance(address,address)',
  ],
  erc721: [
    ...ofRoles,
    'mintTo(address,string)',
    'approve(address,uint256)',
    'safeTransferFrom(address,address,uint256)',
    'safeTransferFrom(address,address,uint256,bytes)',
    'setTokenURI(uint256,string)',
    'burn(uint256)',
    'ownerOf(uint256)',
    'balanceOf(address)',
  ],
  erc1155: [
    ...ofRoles,
    'mintTo(address,uint256,string,uint256)',
    'safeTransferFrom(address,address,uint256,uint256,bytes)',
    'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
    'setApprovalForAll(address,bool)',
    'setTokenURI(uint256,string)',
    'burn(address,uint256,uint256)',
    'balanceOf(address,uint256)',
    'balanceOfBatch(address[],uint256[])',
    'uri(uint256)',
    'nextTokenIdToMint()',
  ],
}
