import { concatHex, encodeAbiParameters, encodeFunctionData, getContractAddress, keccak256, pad } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../chain.ts'
import { accountFactoryAbi } from './artifacts/account-factory.ts'
import { proxyCreationCode } from './artifacts/proxy-code.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import { type AccountContracts, accountContracts, noSalt } from './deployment.ts'

/** Part of the data that initializes an account, and with it of its address. */
const manifestHash: Hex = '0xa043327d77a74c1c55cfa799284b831fe09535a88b9f5fa4173d334e5ba0fd91'

const ownersParameters = [
  { type: 'address[]' },
  { type: 'uint256[]' },
  {
    type: 'tuple[]',
    components: [
      { name: 'x', type: 'uint256' },
      { name: 'y', type: 'uint256' },
    ],
  },
  { type: 'uint256[]' },
  { type: 'uint256' },
] as const

/** The first owners of an account: one address, or several owners with weights. */
export type FirstOwners = {
  /** Distinguishes accounts with the same owners. */
  sender: Hex
  owners: readonly { address: Address; weight: bigint }[]
  keys: readonly { x: bigint; y: bigint; weight: bigint }[]
  threshold: bigint
}

export const ownedBy = (owner: Address): FirstOwners => ({
  sender: pad(owner as Hex),
  owners: [{ address: owner, weight: 1n }],
  keys: [],
  threshold: 1n,
})

function initialization({ plugin }: AccountContracts, { owners, keys, threshold }: FirstOwners) {
  const installData = encodeAbiParameters(ownersParameters, [
    owners.map(({ address }) => address as Hex),
    owners.map(({ weight }) => weight),
    keys,
    keys.map(({ weight }) => weight),
    threshold,
  ])
  return [[plugin], [manifestHash], [installData]] as const
}

/** The address of the account of these owners, whether it is deployed or not, in lower case. */
export function accountAddress(first: FirstOwners, contracts: AccountContracts = accountContracts): Address {
  const initialize = encodeFunctionData({
    abi: smartAccountAbi,
    functionName: 'initializeUpgradableMSCA',
    args: initialization(contracts, first),
  })
  const deployment = encodeAbiParameters(
    [{ type: 'address' }, { type: 'bytes' }],
    [contracts.implementation, initialize],
  )
  const salt = keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [first.sender, noSalt]),
  )
  const bytecode = concatHex([proxyCreationCode, deployment])
  const from = contracts.factory
  return getContractAddress({ opcode: 'CREATE2', from, salt, bytecode }).toLowerCase() as Address
}

/** The call of the factory that creates the account. */
export function accountCreation(first: FirstOwners, contracts: AccountContracts = accountContracts) {
  const parameters = [{ type: 'address[]' }, { type: 'bytes32[]' }, { type: 'bytes[]' }] as const
  const data = encodeFunctionData({
    abi: accountFactoryAbi,
    functionName: 'createAccount',
    args: [first.sender, noSalt, encodeAbiParameters(parameters, initialization(contracts, first))],
  })
  return { factory: contracts.factory.toLowerCase() as Address, data }
}
