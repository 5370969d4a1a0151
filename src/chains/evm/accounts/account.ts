import {
  concatHex,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  keccak256,
  pad,
} from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { AccountCreation, AccountOwners } from '../../facets/accounts.ts'
import { accountFactoryAbi } from './artifacts/account-factory.ts'
import { proxyCreationCode } from './artifacts/proxy-code.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import {
  type AccountContracts,
  modularContracts,
  newestAccountContracts,
  noSalt,
} from './deployed-contracts.ts'

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

const initializingParameters = [{ type: 'address[]' }, { type: 'bytes32[]' }, { type: 'bytes[]' }] as const

/** The first owners of an account. `sender` distinguishes accounts with the same owners. */
export type FirstOwners = AccountOwners & { sender: Hex }

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

/** The sender as the published client computes it: from the first owner. */
const senderOf = ({ owners, keys }: AccountOwners): Hex =>
  keys[0]
    ? keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [keys[0].x, keys[0].y]))
    : pad(owners[0]!.address as Hex)

/** The account of a modular wallet with these owners, whether it is deployed or not. */
export const modularAccountOf = (owners: AccountOwners) => accountOf(owners, modularContracts)

function accountOf(owners: AccountOwners, contracts: AccountContracts) {
  const first = { ...owners, sender: senderOf(owners) }
  return { account: accountAddress(first, contracts), creation: accountCreation(first, contracts) }
}

/** The account that a creation makes; `undefined` unless it is, to the byte, the one that the owners in it determine. */
export function createdBy({ factory, data }: AccountCreation, contracts = modularContracts) {
  if (factory !== contracts.factory.toLowerCase()) return undefined
  try {
    const { args } = decodeFunctionData({ abi: accountFactoryAbi, data })
    const [, , initializing] = args as readonly [Hex, Hex, Hex]
    const [, , [installData]] = decodeAbiParameters(initializingParameters, initializing)
    const [addresses, weights, points, keyWeights, threshold] = decodeAbiParameters(
      ownersParameters,
      installData!,
    )
    const owners: AccountOwners = {
      owners: addresses.map((address, index) => ({
        address: address.toLowerCase() as Address,
        weight: weights[index]!,
      })),
      keys: points.map((point, index) => ({ ...point, weight: keyWeights[index]! })),
      threshold,
    }
    const { account, creation } = accountOf(owners, contracts)
    return creation.data === data.toLowerCase() ? { account, owners } : undefined
  } catch {
    return undefined
  }
}

/** The address of the account of these owners, whether it is deployed or not, in lower case. */
export function accountAddress(
  first: FirstOwners,
  contracts: AccountContracts = newestAccountContracts,
): Address {
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
export function accountCreation(first: FirstOwners, contracts: AccountContracts = newestAccountContracts) {
  const data = encodeFunctionData({
    abi: accountFactoryAbi,
    functionName: 'createAccount',
    args: [
      first.sender,
      noSalt,
      encodeAbiParameters(initializingParameters, initialization(contracts, first)),
    ],
  })
  return { factory: contracts.factory.toLowerCase() as Address, data }
}
