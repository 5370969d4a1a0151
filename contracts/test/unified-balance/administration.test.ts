import { type Address, encodeFunctionData, getAddress, getContractAddress, type Hex, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { gatewayProxyCode } from '#chains/evm/unified-balance/artifacts/gateway-proxy'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import {
  implementationCreations,
  minterProxyCreation,
  walletProxyCreation,
} from '#chains/evm/unified-balance/deployed-contracts'
import { baseSepolia } from '#chains/networks/base-sepolia'
import {
  localImplementations,
  localWithdrawalDelayBlocks,
  placedUnifiedBalance,
} from '#sandbox/chains/unified-balance-contracts'
import { type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  alice,
  bob,
  carol,
  domain,
  gatewaySigner,
  issuer,
  minter,
  read,
  refusal,
  send,
  startGatewayChain,
  stranger,
  token,
  wallet,
} from './gateway-chain.ts'

let chain: TokenChain
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const both = { wallet, minter } as const
const names = ['wallet', 'minter'] as const
const roles = { pauser: issuer.address, denylister: issuer.address, tokens: [token], domain }
const walletRoles = {
  ...roles,
  withdrawalDelayBlocks: localWithdrawalDelayBlocks,
  burnSigner: gatewaySigner.address,
  feeRecipient: issuer.address,
}
const minterRoles = {
  ...roles,
  attestationSigner: gatewaySigner.address,
  mintAuthorities: [zeroAddress],
}
const creationOf = (name: keyof typeof both, implementation: Address) =>
  name === 'wallet'
    ? walletProxyCreation(implementation, walletRoles)
    : minterProxyCreation(implementation, minterRoles)

async function create(data: Hex): Promise<Address> {
  const { status, contractAddress } = await chain.client.sendTransactionSync({ account: issuer, data })
  if (status !== 'success' || !contractAddress) throw new Error('the contract was not created')
  return contractAddress
}

/** What creation leaves to the owner. */
const appointForContracts = (to: Address) =>
  chain.client.sendTransactionSync({
    account: issuer,
    to,
    data: encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'addContractSignatureSigner',
      args: [gatewaySigner.address],
    }),
  })

/** The first slots, those of the placed contract, the code and the nonce. */
async function stateOf(address: Address, placed: Address) {
  const written = Object.keys(placedUnifiedBalance(baseSepolia)[placed]!.storage!) as Hex[]
  const slots = [...Array.from({ length: 14 }, (_, index) => numberToHex(index, { size: 32 })), ...written]
  return {
    nonce: await chain.client.getTransactionCount({ address }),
    code: await chain.client.getCode({ address }),
    storage: await Promise.all(slots.map((slot) => chain.client.getStorageAt({ address, slot }))),
  }
}

it.each(names)(
  'the %s in genesis is what its creation leaves, byte for byte and word for word',
  async (name) => {
    const implementation = await create(implementationCreations[name])
    const proxy = await create(creationOf(name, implementation))
    if (name === 'wallet') await appointForContracts(proxy)
    const renamed = (state: object) =>
      JSON.parse(
        JSON.stringify(state).replaceAll(
          implementation.slice(2).toLowerCase(),
          localImplementations[name].slice(2),
        ),
      )
    expect(renamed(await stateOf(implementation, localImplementations[name]))).toEqual(
      await stateOf(localImplementations[name], localImplementations[name]),
    )
    expect(renamed(await stateOf(proxy, both[name]))).toEqual(await stateOf(both[name], both[name]))
    expect(await read<Address>(chain, both[name], 'owner')).toBe(issuer.address)
  },
)

it('shows the settings of the local chain', async () => {
  for (const contract of [wallet, minter]) {
    expect(await read<number>(chain, contract, 'domain')).toBe(domain)
    expect(await read<Address>(chain, contract, 'pauser')).toBe(issuer.address)
    expect(await read<Address>(chain, contract, 'denylister')).toBe(issuer.address)
    expect(await read<boolean>(chain, contract, 'isTokenSupported', [token])).toBe(true)
    expect(await read<boolean>(chain, contract, 'paused')).toBe(false)
    expect(await read<boolean>(chain, token, 'isMinter', [contract])).toBe(true)
  }
  expect(await read(chain, wallet, 'withdrawalDelay')).toBe(localWithdrawalDelayBlocks)
  expect(await read<Address>(chain, wallet, 'feeRecipient')).toBe(issuer.address)
  expect(await read<boolean>(chain, wallet, 'isBurnSigner', [gatewaySigner.address])).toBe(true)
  expect(await read<boolean>(chain, wallet, 'isContractSignatureSigner', [gatewaySigner.address])).toBe(true)
  expect(await read<boolean>(chain, minter, 'isAttestationSigner', [gatewaySigner.address])).toBe(true)
  expect(await read<Address>(chain, minter, 'tokenMintAuthority', [token])).toBe(zeroAddress)
  expect(await read(chain, token, 'minterAllowance', [wallet])).toBe(0n)
})

describe.each(names)('the %s', (name) => {
  const contract = both[name]
  const initialize = name === 'wallet' ? Object.values(walletRoles) : Object.values(minterRoles)

  it('is initialized once, and its implementation never', async () => {
    for (const each of [contract, localImplementations[name]])
      for (const account of [stranger, issuer])
        expect(await refusal(chain, account, each, 'initialize', initialize)).toBe('InvalidInitialization()')
    await expect(
      chain.client.sendTransactionSync({
        account: issuer,
        data: `${gatewayProxyCode.creation}${localImplementations[name].slice(2).padStart(64, '0')}${'40'.padStart(64, '0')}${'0'.repeat(64)}`,
      }),
    ).rejects.toThrow(/revert/)
  })

  it('obeys its owner alone, and changes the owner in two steps', async () => {
    const own = [
      ['updatePauser', [bob.address]],
      ['updateDenylister', [bob.address]],
      ['addSupportedToken', [bob.address]],
      ['transferOwnership', [bob.address]],
      ['upgradeToAndCall', [localImplementations[name], '0x']],
      ...(name === 'wallet'
        ? ([
            ['addBurnSigner', [bob.address]],
            ['removeBurnSigner', [gatewaySigner.address]],
            ['addContractSignatureSigner', [bob.address]],
            ['removeContractSignatureSigner', [gatewaySigner.address]],
            ['updateFeeRecipient', [bob.address]],
            ['updateWithdrawalDelay', [1n]],
          ] as const)
        : ([
            ['addAttestationSigner', [bob.address]],
            ['removeAttestationSigner', [gatewaySigner.address]],
            ['updateMintAuthority', [token, bob.address]],
          ] as const)),
    ] as const
    for (const [functionName, args] of own)
      expect([functionName, await refusal(chain, stranger, contract, functionName, args)]).toEqual([
        functionName,
        `OwnableUnauthorizedAccount(${stranger.address})`,
      ])
    await send(chain, issuer, contract, 'transferOwnership', [bob.address])
    expect(await read<Address>(chain, contract, 'owner')).toBe(issuer.address)
    expect(await read<Address>(chain, contract, 'pendingOwner')).toBe(bob.address)
    expect(await refusal(chain, stranger, contract, 'acceptOwnership', [])).toBe(
      `OwnableUnauthorizedAccount(${stranger.address})`,
    )
    expect(await send(chain, bob, contract, 'acceptOwnership', [])).toEqual([
      {
        eventName: 'OwnershipTransferred',
        args: { previousOwner: issuer.address, newOwner: bob.address },
      },
    ])
    expect(await refusal(chain, issuer, contract, 'updatePauser', [issuer.address])).toMatch(
      /^OwnableUnauthorizedAccount/,
    )
  })

  it('is paused and keeps its denylist by roles that the owner appoints', async () => {
    expect(await refusal(chain, bob, contract, 'pause', [])).toBe(`UnauthorizedPauser(${bob.address})`)
    expect(await refusal(chain, bob, contract, 'denylist', [carol.address])).toBe(
      `UnauthorizedDenylister(${bob.address})`,
    )
    expect(await send(chain, issuer, contract, 'updatePauser', [bob.address])).toEqual([
      { eventName: 'PauserChanged', args: { oldPauser: issuer.address, newPauser: bob.address } },
    ])
    expect(await send(chain, issuer, contract, 'updateDenylister', [bob.address])).toEqual([
      { eventName: 'DenylisterChanged', args: { oldDenylister: issuer.address, newDenylister: bob.address } },
    ])
    expect(await refusal(chain, issuer, contract, 'pause', [])).toBe(`UnauthorizedPauser(${issuer.address})`)
    expect(await refusal(chain, bob, contract, 'unpause', [])).toBe('ExpectedPause()')
    expect(await send(chain, bob, contract, 'pause', [])).toEqual([
      { eventName: 'Paused', args: { account: bob.address } },
    ])
    expect(await refusal(chain, bob, contract, 'pause', [])).toBe('EnforcedPause()')
    await send(chain, bob, contract, 'unpause', [])
    expect(await send(chain, bob, contract, 'denylist', [carol.address])).toEqual([
      { eventName: 'Denylisted', args: { addr: carol.address } },
    ])
    expect(await read<boolean>(chain, contract, 'isDenylisted', [carol.address])).toBe(true)
    expect(await send(chain, bob, contract, 'unDenylist', [carol.address])).toEqual([
      { eventName: 'UnDenylisted', args: { addr: carol.address } },
    ])
    expect(await read<boolean>(chain, contract, 'isDenylisted', [carol.address])).toBe(false)
    expect(await send(chain, issuer, contract, 'addSupportedToken', [carol.address])).toEqual([
      { eventName: 'TokenSupported', args: { token: carol.address } },
    ])
  })

  it('is upgraded by its owner to an implementation, and keeps its state', async () => {
    const implementation = await create(implementationCreations[name])
    expect(await send(chain, issuer, contract, 'upgradeToAndCall', [implementation, '0x'])).toEqual([
      { eventName: 'Upgraded', args: { implementation: getAddress(implementation) } },
    ])
    expect(await read<number>(chain, contract, 'domain')).toBe(domain)
    expect(await refusal(chain, issuer, contract, 'upgradeToAndCall', [token, '0x'])).toBe(
      `ERC1967InvalidImplementation(${token})`,
    )
    expect(await refusal(chain, stranger, contract, 'initialize', initialize)).toBe('InvalidInitialization()')
  })
})

it('signers and the recipient of fees are appointed and dismissed', async () => {
  const signers = [
    [wallet, 'BurnSigner'],
    [wallet, 'ContractSignatureSigner'],
    [minter, 'AttestationSigner'],
  ] as const
  for (const [contract, role] of signers) {
    const is = () => read<boolean>(chain, contract, `is${role}`, [alice.address])
    expect(await send(chain, issuer, contract, `add${role}`, [alice.address])).toEqual([
      { eventName: `${role}Added`, args: { signer: alice.address } },
    ])
    expect(await is()).toBe(true)
    expect(await send(chain, issuer, contract, `remove${role}`, [alice.address])).toEqual([
      { eventName: `${role}Removed`, args: { signer: alice.address } },
    ])
    expect(await is()).toBe(false)
    for (const verb of ['add', 'remove'])
      expect(await refusal(chain, issuer, contract, `${verb}${role}`, [zeroAddress])).toBe('InvalidAddress()')
  }
  expect(await send(chain, issuer, wallet, 'updateFeeRecipient', [alice.address])).toEqual([
    {
      eventName: 'FeeRecipientChanged',
      args: { oldFeeRecipient: issuer.address, newFeeRecipient: alice.address },
    },
  ])
  expect(await refusal(chain, issuer, wallet, 'updateFeeRecipient', [zeroAddress])).toBe('InvalidAddress()')
  expect(await send(chain, issuer, minter, 'updateMintAuthority', [token, alice.address])).toEqual([
    {
      eventName: 'MintAuthorityChanged',
      args: { token, oldMintAuthority: zeroAddress, newMintAuthority: alice.address },
    },
  ])
  const setAuthority = (asset: Address, authority: Address) =>
    refusal(chain, issuer, minter, 'updateMintAuthority', [asset, authority])
  expect(await setAuthority(token, zeroAddress)).toBe('InvalidAddress()')
  expect(await setAuthority(bob.address, alice.address)).toBe(`UnsupportedToken(${bob.address})`)
})

it('a minter is created with mint authorities, one for each token or none', async () => {
  const authorities = [alice.address, zeroAddress]
  const several = { ...minterRoles, tokens: [token, bob.address], mintAuthorities: authorities }
  const address = await create(minterProxyCreation(localImplementations.minter, several))
  const authorityOf = (asset: Address) =>
    chain.client.readContract({
      address,
      abi: [
        {
          type: 'function',
          name: 'tokenMintAuthority',
          stateMutability: 'view',
          inputs: [{ type: 'address', name: 'token' }],
          outputs: [{ type: 'address', name: '' }],
        },
      ],
      functionName: 'tokenMintAuthority',
      args: [asset],
    })
  expect([await authorityOf(token), await authorityOf(bob.address)]).toEqual(authorities)
  const unequal = minterProxyCreation(localImplementations.minter, { ...several, tokens: [token] })
  await expect(create(unequal)).rejects.toThrow(/revert|0x/)
  const from = issuer.address
  const nonce = BigInt(await chain.client.getTransactionCount({ address: from }))
  expect(await chain.client.getCode({ address: getContractAddress({ from, nonce }) })).toBeUndefined()
})
