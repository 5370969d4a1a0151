import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { entryPoint } from '#chains/entry-point'
import {
  create2Deployer,
  modularContracts,
  newestAccountContracts,
  runtimeCodeOf,
  senderCreator,
} from '#chains/evm/accounts/deployed-contracts'
import { once } from '#runtime/scheduling/memoize'
import { create2FactoryCode } from '../artifacts/infrastructure-code.ts'

/** A contract as a genesis file has it; quantities are hexadecimal. */
export type PlacedContract = {
  balance: string
  nonce: string
  code: string
  storage?: Record<string, string>
}
type Artifact = { bytecode: string; deployedBytecode: string }

/** A number as a word of storage. */
export const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** The slot of OpenZeppelin's Initializable (ERC-7201), and what a locked implementation has there. */
export const initializableSlot = '0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00'
const locked = word(2n ** 64n - 1n)

/** The slot of the EntryPoint's guard against reentrancy, which its constructor sets. */
const guardSlot = word(2n)
const notEntered = word(1n)

/**
 * The contracts of smart accounts, as part of a genesis file: the deterministic deployer, the EntryPoint with the creator of accounts that it deploys,
 * and the contracts of accounts both at their own addresses and at those that the client of modular wallets knows. They are the
 * same on every chain.
 */
export const placedAccountContracts = once(placeContracts)

function placeContracts(): Record<string, PlacedContract> {
  const artifact = readEntryPoint()
  const placed: Record<string, PlacedContract> = {
    [create2Deployer]: contract(create2FactoryCode),
    [entryPoint]: {
      ...contract(entryPointCode(artifact)),
      // The creation of the creator of accounts took the first nonce.
      nonce: '0x2',
      storage: { [guardSlot]: notEntered },
    },
    [senderCreator]: contract(senderCreatorCode(artifact)),
  }
  for (const contracts of [newestAccountContracts, modularContracts]) {
    for (const { address, code } of runtimeCodeOf(contracts)) placed[address] = contract(code)
    placed[contracts.implementation]!.storage = { [initializableSlot]: locked }
  }
  return placed
}

const contract = (code: string): PlacedContract => ({ balance: '0x0', nonce: '0x1', code })

/** The one immutable of the EntryPoint is the address of the creator of accounts: 32 bytes of zeros after a PUSH32. */
function entryPointCode({ deployedBytecode }: Artifact): string {
  return deployedBytecode.replaceAll(
    `7f${'0'.repeat(64)}`,
    `7f${senderCreator.slice(2).toLowerCase().padStart(64, '0')}`,
  )
}

/**
 * The EntryPoint's own creation code holds that of its creator of accounts, which copies as many bytes as it names from behind
 * itself. The package's artifact of that contract is of another compilation.
 */
function senderCreatorCode({ bytecode }: Artifact): string {
  const found = /6080806040523461001657(61([0-9a-f]{4}))908161001c8239f35b600080fdfe/.exec(bytecode)
  if (!found) throw new Error('the EntryPoint of the package creates no creator of accounts')
  const start = found.index + found[0].length
  return `0x${found.input.slice(start, start + 2 * Number.parseInt(found[2]!, 16))}`
}

const { resolve } = createRequire(import.meta.url)

/** Read from its package, which only a sandbox needs: what it brings along is not for every installation. */
function readEntryPoint(): Artifact {
  return JSON.parse(readFileSync(entryPointFile(), 'utf8')) as Artifact
}

function entryPointFile(): string {
  try {
    return resolve('@account-abstraction/contracts/artifacts/EntryPoint.json')
  } catch (cause) {
    throw new Error(
      'Local chains need the package @account-abstraction/contracts, which is not installed. Run "npm install --include=optional", or use "bezant serve" with the RPC URLs of your own.',
      { cause },
    )
  }
}
