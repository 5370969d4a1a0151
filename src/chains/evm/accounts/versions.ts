/** The versions of accounts: the contracts that operations need for them, and upgrades from one to another. */
import { encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import { type ScaCore, scaCores, type UpgradeTarget, upgradeTargets } from '#lib/sca-cores'
import type { Address } from '../../addresses/types.ts'
import type { AccountUpgrade, UserOperation } from '../../facets/accounts.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import { type CreatedContract, contractsOf, creationsOf } from './deployed-contracts.ts'
import { encodeExecution } from './operation.ts'

/** Room above what contracts/test/accounts measures. */
const upgradeGas = 40_000n

export function upgradeOf(account: Address, core: UpgradeTarget): AccountUpgrade {
  const implementation = contractsOf(core).implementation.toLowerCase() as Hex
  const data = encodeFunctionData({
    abi: smartAccountAbi,
    functionName: 'upgradeToAndCall',
    args: [implementation, '0x'],
  })
  return {
    call: { to: account, valueAtomic: 0n, data },
    signature: 'upgradeToAndCall(address,bytes)',
    values: [implementation, '0x'],
    gas: upgradeGas,
  }
}

/** The contracts that the operations create their accounts with, and those that they upgrade them to. */
export const contractsNeeded = (operations: readonly UserOperation[]): readonly CreatedContract[] => [
  ...new Set(operations.flatMap(contractsOfOne)),
]

function contractsOfOne({ account, creation, callData }: UserOperation): CreatedContract[] {
  const created = scaCores.filter((core) => contractsOf(core).factory.toLowerCase() === creation?.factory)
  const upgraded = upgradeTargets.filter(
    (core) => callData === encodeExecution(upgradeOf(account, core).call),
  )
  // An account that exists has the plugin, and an upgrade needs no factory.
  return [...created.flatMap(creationsOf), ...upgraded.map(implementationOf)]
}

const implementationOf = (core: ScaCore): CreatedContract =>
  creationsOf(core).find(({ address }) => address === contractsOf(core).implementation)!
