import { type Address, concatHex, getContractAddress, keccak256, pad, stringToHex, toHex } from 'viem'
import type { Hex } from '#lib/hex'
import { newestCore, type ScaCore, scaCores } from '#lib/sca-cores'
import { entryPoint } from '../../entry-point.ts'
import { withImmutables } from '../contracts/immutables.ts'
import { addressMappingSlot } from '../contracts/storage-slots.ts'
import { accountFactoryCode } from './artifacts/account-factory.ts'
import { earlierAccountCode } from './artifacts/earlier-account.ts'
import { ownershipPluginCode } from './artifacts/ownership-plugin.ts'
import { smartAccountCode } from './artifacts/smart-account.ts'
import { sponsorPaymasterCode } from './artifacts/sponsor-paymaster.ts'
import { tokenPaymasterCode } from './artifacts/token-paymaster.ts'

/** The contracts that accounts of one kind are made of. Their addresses are part of the address of each account. */
export type AccountContracts = { factory: Address; implementation: Address; plugin: Address }

/** A contract at the one address that its code gives it, and the call of the deterministic deployer that creates it. */
export type CreatedContract = { address: Address; call: { to: Address; data: Hex } }

/** The EntryPoint keeps deposits in the mapping of its first slot, whose values begin with the amount. */
export const depositSlot = (account: Hex): Hex => toHex(addressMappingSlot(0n, account), { size: 32 })

/** The address of the EntryPoint in the canonical form, in which chains write addresses. */
export const entryPointAddress = entryPoint.toLowerCase() as Address

/** The contract that the EntryPoint creates accounts with, the first that it created. */
export const senderCreator: Address = getContractAddress({ from: entryPoint, nonce: 1n })

/** The hashes of the code that stands at these two on every chain: the address of the EntryPoint follows from its code. */
export const entryPointCodeHash: Hex = '0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58'
export const senderCreatorCodeHash: Hex = '0x283c9d14378f5f4c4e24045b87d621d48443fa5b4af7dd7180a599b3756a7689'

/** The deployer of contracts at addresses that their code alone determines. It takes a salt and the creation code. */
export const create2Deployer: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

export const create2DeployerCodeHash: Hex =
  '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989'

/** The contracts of modular wallets, with the constants of their published client. */
export const modularContracts: AccountContracts = {
  factory: '0x0000000DF7E6c9Dc387cAFc5eCBfa6c3a6179AdD',
  implementation: '0xA70F1296869DA9D7CB69578123F21888E6dB2B62',
  plugin: '0x0000000C984AFf541D6cE86Bb697e68ec57873C8',
}

/** The salt of contracts that nothing but their code distinguishes. */
export const noSalt: Hex = `0x${'0'.repeat(64)}`

/** The contract that the deployer creates with this code. `parameters` of the constructor: addresses, or words of 32 bytes. */
export function createdAt(code: Hex, ...parameters: readonly Hex[]): CreatedContract {
  const words = parameters.map((parameter) => pad(parameter.toLowerCase() as Hex))
  const bytecode = concatHex([code, ...words])
  return {
    address: getContractAddress({ opcode: 'CREATE2', from: create2Deployer, salt: noSalt, bytecode }),
    call: { to: create2Deployer, data: concatHex([noSalt, bytecode]) },
  }
}

type DeployedContracts = {
  contracts: AccountContracts
  /** Their creations, in an order that works. */
  creations: readonly CreatedContract[]
}

const plugin = createdAt(ownershipPluginCode.creation)

function contractsWith(implementation: CreatedContract): DeployedContracts {
  const factory = createdAt(accountFactoryCode.creation, implementation.address, plugin.address)
  return {
    contracts: {
      factory: factory.address,
      implementation: implementation.address,
      plugin: plugin.address,
    },
    creations: [plugin, implementation, factory],
  }
}

/** The name of a version is part of the code of its contracts: another name would change all of their addresses. */
const deployedByCore = new Map<ScaCore, DeployedContracts>(
  scaCores.map((core) => {
    const name = core === newestCore ? [] : [stringToHex(core, { size: 32 })]
    const { creation: code } = core === newestCore ? smartAccountCode : earlierAccountCode
    return [core, contractsWith(createdAt(code, entryPoint, plugin.address, ...name))]
  }),
)

/** The contracts of the accounts of developers' wallets of one version, at the same addresses on every chain. */
export const contractsOf = (core: ScaCore): AccountContracts => deployedByCore.get(core)!.contracts

/** Their creations, in an order that works. */
export const creationsOf = (core: ScaCore): readonly CreatedContract[] => deployedByCore.get(core)!.creations

/** The contracts of new accounts. */
export const newestAccountContracts = contractsOf(newestCore)

/** The creation of the paymaster of a sponsor, which is at the same address on every chain. */
export const paymasterOf = (sponsor: Address): CreatedContract =>
  createdAt(sponsorPaymasterCode.creation, entryPoint, sponsor)

/** Its address in the canonical form. */
export const paymasterAddress = (sponsor: Hex): Address =>
  paymasterOf(sponsor as Address).address.toLowerCase() as Address

/** The creation of the paymaster of an owner that takes a token of the accounts whose gas it pays. */
export const tokenPaymasterOf = (owner: Hex, token: Hex): CreatedContract =>
  createdAt(tokenPaymasterCode.creation, entryPoint, owner, token)

/** The runtime code of that paymaster. */
export const tokenPaymasterRuntime = (owner: Hex, token: Hex): Hex =>
  withImmutables(tokenPaymasterCode, { paymasterEntryPoint: entryPoint, owner, token })

/** The runtime code of the contracts as they stand at `addresses`. */
export function runtimeCodeOf(addresses: AccountContracts): { address: Address; code: Hex }[] {
  return [
    { address: addresses.plugin, code: ownershipPluginCode.runtime },
    {
      address: addresses.implementation,
      code: withImmutables(smartAccountCode, {
        accountEntryPoint: entryPoint,
        accountPlugin: addresses.plugin,
        __self: addresses.implementation,
      }),
    },
    {
      address: addresses.factory,
      code: withImmutables(accountFactoryCode, {
        accountImplementation: addresses.implementation,
        allowedPlugin: addresses.plugin,
      }),
    },
  ]
}

/** Hashes of that code, to compare with what a chain has. */
export const codeHashesOf = (addresses: AccountContracts): Map<Address, Hex> =>
  new Map(runtimeCodeOf(addresses).map(({ address, code }) => [address, keccak256(code)]))

/** The runtime code of the paymaster of a sponsor. Without a cached domain, it computes that on each use. */
export const paymasterCode = (sponsor: Address): Hex =>
  withImmutables(sponsorPaymasterCode, {
    paymasterEntryPoint: entryPoint,
    sponsor,
    _hashedName: keccak256(stringToHex('Bezant Sponsor')),
    _hashedVersion: keccak256(stringToHex('1')),
    _cachedDomainSeparator: '0x',
    _cachedChainId: '0x',
    _cachedThis: '0x',
    _name: '0x',
    _version: '0x',
  })
