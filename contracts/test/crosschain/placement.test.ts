/** The contracts that stand in genesis are those that a deployment and its calls leave, byte for byte and slot for slot. */
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  toFunctionSelector,
  toHex,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageBodySizeMax } from '#chains/crosschain/message'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { proxyCreationCode } from '#chains/evm/accounts/artifacts/proxy-code'
import { crossChainTokenServiceCode } from '#chains/evm/crosschain/artifacts/cross-chain-token-service'
import { depositForHandlerCode } from '#chains/evm/crosschain/artifacts/deposit-for-handler'
import { genericExecutorCode } from '#chains/evm/crosschain/artifacts/generic-executor'
import { kitBridgeCode } from '#chains/evm/crosschain/artifacts/kit-bridge'
import { messageTransmitterV2Code } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Code } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { tokenMessengerWithFeesCode } from '#chains/evm/crosschain/artifacts/token-messenger-with-fees'
import { tokenMinterV2Code } from '#chains/evm/crosschain/artifacts/token-minter-v2'
import {
  crosschainContracts,
  crosschainContractsOf,
  hasDomain,
} from '#chains/evm/crosschain/deployed-contracts'
import { networks } from '#chains/networks/index'
import { zksSepolia } from '#chains/networks/zks-sepolia'
import { burnLimitAtomic, placedCrosschainContracts } from '#sandbox/chains/crosschain-contracts'
import { quoteSignerAccount } from '#sandbox/constants'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  addresses,
  attester,
  bridge,
  type Contract,
  eurc,
  eurcOf,
  executor,
  handler,
  issuer,
  local,
  messenger,
  minter,
  read,
  refusal,
  send,
  startCrosschainChain,
  tokenService,
  transmitter,
  usdc,
  usdcOf,
  withFees,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startCrosschainChain()
})
afterAll(() => chain?.stop())

const coins = [
  [usdc, usdcOf],
  [eurc, eurcOf],
] as const

const others = networks
  .filter(hasDomain)
  .filter(({ environment, domain }) => environment === 'TEST' && domain !== local.domain)

const transmitterState = [
  issuer.address,
  issuer.address,
  issuer.address,
  issuer.address,
  [attester.address],
  1n,
  BigInt(messageBodySizeMax),
]
const messengerRoles = {
  owner: issuer.address,
  rescuer: issuer.address,
  feeRecipient: issuer.address,
  denylister: issuer.address,
  tokenMinter: minter.address,
  minFeeController: issuer.address,
}
const messengerState = [
  messengerRoles,
  0n,
  others.map(({ domain }) => domain),
  others.map(() => wordOfAddress(messenger.address)),
]

async function create(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode, args })
  const { contractAddress } = await chain.client.sendTransactionSync({ account: issuer, data })
  return contractAddress!
}

const proxyAbi = parseAbi(['constructor(address implementation, bytes data)'])

/** As an operator deploys: the proxy and its state in one transaction. */
async function deployInitialized(
  { abi }: Contract,
  implementation: Address,
  args: unknown[],
): Promise<Contract> {
  const data = encodeFunctionData({ abi, functionName: 'initialize', args })
  return { abi, address: await create(proxyAbi, proxyCreationCode, [implementation, data]) }
}

const codeAt = (address: Address) => chain.client.getCode({ address })
const slotAt = (address: Address, slot: Hex) => chain.client.getStorageAt({ address, slot })

/** The slots of the placed contract, and the first of all. */
async function requireSameState(placed: Address, deployed: Address): Promise<void> {
  const written = Object.keys(placedCrosschainContracts(local, attester.address)[placed]!.storage ?? {})
  const first = Array.from({ length: 16 }, (_, index) => numberToHex(index, { size: 32 }))
  for (const slot of new Set([...written, ...first]) as Set<Hex>)
    expect([slot, await slotAt(placed, slot)]).toEqual([slot, await slotAt(deployed, slot)])
}

describe('what genesis places', () => {
  test('is the transmitter behind an initialized proxy', async () => {
    const implementation = await create(transmitter.abi, messageTransmitterV2Code.creation, [local.domain, 1])
    expect(await codeAt(transmitter.address)).toBe(await codeAt(implementation))
    const proxy = await deployInitialized(transmitter, implementation, transmitterState)
    await requireSameState(transmitter.address, proxy.address)
    const initialize = [...transmitterState]
    for (const each of [transmitter, proxy, { ...transmitter, address: implementation }])
      expect(await refusal(chain, people.stranger, each, 'initialize', initialize)).toBe(
        'InvalidInitialization',
      )
    expect(await read(chain, { ...transmitter, address: implementation }, 'owner')).toMatch(/^0x0+$/)
    expect(await read(chain, proxy, 'localDomain')).toBe(local.domain)
    expect(await read(chain, proxy, 'initializedVersion')).toBe(1n)
  })

  test('is the messenger behind an initialized proxy', async () => {
    const args = [transmitter.address, 1]
    const implementation = await create(messenger.abi, tokenMessengerV2Code.creation, args)
    expect(await codeAt(messenger.address)).toBe(await codeAt(implementation))
    const proxy = await deployInitialized(messenger, implementation, messengerState)
    await requireSameState(messenger.address, proxy.address)
    for (const each of [messenger, proxy, { ...messenger, address: implementation }])
      expect(await refusal(chain, people.stranger, each, 'initialize', messengerState)).toBe(
        'InvalidInitialization',
      )
  })

  test('is the minter after the calls of its owner', async () => {
    const address = await create(minter.abi, tokenMinterV2Code.creation, [issuer.address])
    const deployed = { ...minter, address }
    expect(await codeAt(minter.address)).toBe(await codeAt(address))
    expect(await read(chain, deployed, 'owner')).toBe(issuer.address)
    const call = (name: string, args: unknown[]) => send(chain, issuer, deployed, name, args)
    await call('updatePauser', [issuer.address])
    await call('updateRescuer', [issuer.address])
    await call('addLocalTokenMessenger', [messenger.address])
    for (const [coin, coinOf] of coins) {
      await call('setMaxBurnAmountPerMessage', [coin.address, burnLimitAtomic])
      for (const other of others)
        await call('linkTokenPair', [coin.address, other.domain, wordOfAddress(coinOf(other).address)])
    }
    await requireSameState(minter.address, address)
  })

  test('is the bridge as it was created', async () => {
    const address = await create(bridge.abi, kitBridgeCode.creation, [messenger.address])
    expect(await codeAt(bridge.address)).toBe(await codeAt(address))
  })

  test('is the contracts of prepaid fees as they were created', async () => {
    const args = [messenger.address, issuer.address, quoteSignerAccount.address]
    const paid = await create(withFees.abi, tokenMessengerWithFeesCode.creation, args)
    expect(await codeAt(withFees.address)).toBe(await codeAt(paid))
    await requireSameState(withFees.address, paid)
    const { id } = messageTokens.TEST[0]!
    const served = await create(tokenService.abi, crossChainTokenServiceCode.creation, [
      ...args,
      [id],
      [eurc.address],
    ])
    expect(await codeAt(tokenService.address)).toBe(await codeAt(served))
    await requireSameState(tokenService.address, served)
    expect(await read(chain, tokenService, 'tokenOf', [id])).toBe(eurc.address)
    const executing = [transmitter.address, usdc.address]
    const executed = await create(executor.abi, genericExecutorCode.creation, executing)
    expect(await codeAt(executor.address)).toBe(await codeAt(executed))
    const handled = await create(handler.abi, depositForHandlerCode.creation, [
      executor.address,
      usdc.address,
    ])
    expect(await codeAt(handler.address)).toBe(await codeAt(handled))
  })
})

test('the placed contracts know each other and the other chains', async () => {
  expect(await read(chain, transmitter, 'usedNonces', [zeroWord])).toBe(1n)
  expect(await read(chain, transmitter, 'getEnabledAttester', [0n])).toBe(attester.address)
  expect(await read(chain, messenger, 'localMessageTransmitter')).toBe(transmitter.address)
  expect(await read(chain, messenger, 'localMinter')).toBe(minter.address)
  for (const [coin] of coins)
    expect(await read(chain, coin, 'minterAllowance', [minter.address])).toBe(2n ** 256n - 1n)
  expect(others.map(({ domain }) => domain).toSorted((a, b) => a - b)).toEqual([
    0, 1, 2, 3, 7, 10, 11, 12, 13, 14, 15, 16, 18, 19, 21, 22, 26, 28, 29, 30, 31, 32, 33, 37,
  ])
  for (const other of others) {
    expect(await read(chain, messenger, 'remoteTokenMessengers', [other.domain])).toBe(
      wordOfAddress(crosschainContractsOf(other).tokenMessenger),
    )
    for (const [coin, coinOf] of coins) {
      const pair = [other.domain, wordOfAddress(coinOf(other).address)]
      expect(await read(chain, minter, 'getLocalToken', pair)).toBe(coin.address)
    }
  }
})

test('initialization refuses what would leave the contract useless', async () => {
  const implementation = await create(transmitter.abi, messageTransmitterV2Code.creation, [local.domain, 1])
  const refused = (contract: Contract, of: Address, args: unknown[]) => {
    const data = encodeFunctionData({ abi: contract.abi, functionName: 'initialize', args })
    const creation = encodeDeployData({ abi: proxyAbi, bytecode: proxyCreationCode, args: [of, data] })
    return chain.client.call({ data: creation }).then(
      () => 'nothing',
      (error: Error) => error.message,
    )
  }
  for (const [reason, index, value] of [
    ['Owner is the zero address', 0, zeroAddress],
    ['Pausable: new pauser is the zero address', 1, zeroAddress],
    ['Rescuable: new rescuer is the zero address', 2, zeroAddress],
    ['AttesterManager is the zero address', 3, zeroAddress],
    ['New attester must be nonzero', 4, [zeroAddress]],
    ['Attester already enabled', 4, [attester.address, attester.address]],
    ['Signature threshold exceeds attesters', 5, 2n],
    ['Invalid signature threshold', 5, 0n],
    ['MaxMessageBodySize is zero', 6, 0n],
  ] as const)
    expect(
      await refused(transmitter, implementation, transmitterState.with(index, value as never)),
    ).toContain(reason)
  const ofMessenger = await create(messenger.abi, tokenMessengerV2Code.creation, [transmitter.address, 1])
  for (const [reason, args] of [
    ['Owner is the zero address', messengerState.with(0, { ...messengerRoles, owner: zeroAddress })],
    ['Zero address not allowed', messengerState.with(0, { ...messengerRoles, tokenMinter: zeroAddress })],
    ['Min fee too high', messengerState.with(1, 10_000_000n)],
    ['Invalid remote domain configuration', messengerState.with(2, [])],
    [
      'TokenMessenger already set',
      messengerState.with(
        2,
        others.map(() => 7),
      ),
    ],
  ] as const)
    expect(await refused(messenger, ofMessenger, args)).toContain(reason)
  await expect(create(messenger.abi, tokenMessengerV2Code.creation, [zeroAddress, 1])).rejects.toThrow(
    'MessageTransmitter not set',
  )
  await expect(create(minter.abi, tokenMinterV2Code.creation, [zeroAddress])).rejects.toThrow(
    'Invalid token controller address',
  )
  await expect(create(bridge.abi, kitBridgeCode.creation, [zeroAddress])).rejects.toThrow(
    'TokenMessenger not set',
  )
  for (const [reason, args] of [
    ['TokenMessenger not set', [zeroAddress, issuer.address, issuer.address]],
    ['Owner is the zero address', [messenger.address, zeroAddress, issuer.address]],
    ['Quote signer is the zero address', [messenger.address, issuer.address, zeroAddress]],
  ] as const)
    await expect(create(withFees.abi, tokenMessengerWithFeesCode.creation, args)).rejects.toThrow(reason)
  const tokensOfOne = [messenger.address, issuer.address, issuer.address, [zeroWord], []]
  await expect(create(tokenService.abi, crossChainTokenServiceCode.creation, tokensOfOne)).rejects.toThrow(
    'Tokens do not match their ids',
  )
  for (const [reason, args] of [
    ['MessageTransmitter not set', [zeroAddress, usdc.address]],
    ['Token not set', [transmitter.address, zeroAddress]],
  ] as const)
    await expect(create(executor.abi, genericExecutorCode.creation, args)).rejects.toThrow(reason)
})

test('networks of both environments have the contracts, those without a domain have none', () => {
  for (const network of networks.filter(hasDomain)) {
    const placed = placedCrosschainContracts(network, attester.address)
    expect(Object.keys(placed)).toEqual(Object.values(crosschainContractsOf(network)))
    // The storage of each differs by domain and token; the same network is not computed twice.
    expect(placedCrosschainContracts(network, attester.address)).toBe(placed)
  }
  expect(placedCrosschainContracts(zksSepolia, attester.address)).toEqual({})
  expect(placedCrosschainContracts(local, people.bob.address)).not.toEqual(
    placedCrosschainContracts(local, attester.address),
  )
})

/** Selectors and topics that published clients have as constants. */
test('functions and events are those of the deployed contracts', async () => {
  const has = async (contract: Contract, selectors: Record<string, string>) => {
    const code = await codeAt(contract.address)
    for (const [signature, selector] of Object.entries(selectors)) {
      expect(keccak256(toHex(signature)).slice(0, 10)).toBe(selector)
      expect(code).toContain(selector.slice(2))
    }
  }
  const bridgeParams = '(uint256,uint256,uint256,bytes32,bytes32,address,address,uint32,uint32)'
  await has(transmitter, { 'receiveMessage(bytes,bytes)': '0x57ecfd28' })
  await has(messenger, {
    'depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)': '0x8e0250ee',
    'depositForBurnWithHook(uint256,uint32,bytes32,address,bytes32,uint256,uint32,bytes)': '0x779b432d',
  })
  const claimed = 'uint256,uint32,bytes32,address,bytes32'
  await has(withFees, {
    [`depositForBurnWithFees(${claimed},(bytes,address))`]: '0x9669ab88',
    [`depositForBurnWithHookAndFees(${claimed},bytes,(bytes,address))`]: '0xc62fa55e',
  })
  const transferred = 'bytes32,uint256,uint32,bytes,bytes32,uint32,(bytes,address),bool,bytes'
  const transfer = `crossChainTransfer(${transferred})`
  await has(tokenService, { [transfer]: toFunctionSelector(transfer) })
  await has(bridge, { [`bridgeWithPreapproval(${bridgeParams})`]: '0xd0d4229a' })
  const topicsOf = { [transmitter.address]: ['8c526166'], [messenger.address]: ['0c8c1cbd', '50c55e91'] }
  for (const [address, topics] of Object.entries(topicsOf))
    for (const topic of topics) expect(await codeAt(address as Address)).toContain(`7f${topic}`)
  expect(addresses).toBe(crosschainContracts.TEST)
})
