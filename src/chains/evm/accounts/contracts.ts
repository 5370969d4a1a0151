import { concatHex, decodeFunctionResult, keccak256, slice, toFunctionSelector } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import { canonicalAddress, canonicalTxId } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { AccountContract, ContractProblem } from '../../facets/accounts.ts'
import type { Network } from '../../networks/index.ts'
import { isRevert } from '../contracts/revert.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { modularAccountOf } from './account.ts'
import { accountFactoryAbi } from './artifacts/account-factory.ts'
import {
  type AccountContracts,
  codeHashesOf,
  create2Deployer,
  create2DeployerCodeHash,
  entryPointAddress,
  entryPointCodeHash,
  modularContracts,
  newestAccountContracts,
  senderCreator,
  senderCreatorCodeHash,
} from './deployed-contracts.ts'

/** Hashes of code that an operator relies on, by address. */
export type PinnedCode = Readonly<Record<string, string>>

type Needed = Pick<AccountContract, 'name' | 'of' | 'address'> & { known: Hex | undefined }

const canonical = (address: string) => canonicalAddress(address) as Address

/** Pins in the form in which chains write addresses and hashes. */
export const canonicalPins = (pinned: PinnedCode): PinnedCode =>
  Object.fromEntries(
    Object.entries(pinned).map(([address, hash]) => [canonical(address), canonicalTxId(hash)]),
  )

const shared: readonly Needed[] = [
  { name: 'EntryPoint', of: 'all', address: entryPointAddress, known: entryPointCodeHash },
  { name: 'SenderCreator', of: 'all', address: canonical(senderCreator), known: senderCreatorCodeHash },
]

const deployer: Needed = {
  name: 'deployer',
  of: 'developer',
  address: canonical(create2Deployer),
  known: create2DeployerCodeHash,
}

function neededOf(of: 'developer' | 'modular', contracts: AccountContracts): Needed[] {
  const hashes = codeHashesOf(contracts)
  return (['plugin', 'implementation', 'factory'] as const).map((part) => {
    const address = contracts[part]
    return {
      name: of === 'modular' ? `client ${part}` : part,
      of,
      address: canonical(address),
      known: hashes.get(address),
    }
  })
}

const ownAndShared: readonly Needed[] = [
  ...shared,
  deployer,
  ...neededOf('developer', newestAccountContracts),
]
/** The contracts that the client of modular wallets names. Where they are those of a vendor, an operator pins their code. */
const ofClient: readonly Needed[] = neededOf('modular', modularContracts)

/** The contracts that a network needs: all that are known here, and others that the operator pinned. */
function neededOn({ rpcPath }: Network, pinned: PinnedCode): readonly Needed[] {
  const listed = rpcPath === undefined ? ownAndShared : [...ownAndShared, ...ofClient]
  const others = Object.keys(pinned).filter((address) => listed.every((each) => each.address !== address))
  return [
    ...listed,
    ...others.map((address) => {
      return { name: 'pinned', of: 'modular', address: address as Address, known: undefined } as const
    }),
  ]
}

const timeoutMs = 5_000

/** See `Accounts.contracts`. Throws `NodeUnreachable` when the node does not answer. */
export async function readContracts(
  rpc: Rpc,
  network: Network,
  pinned: PinnedCode,
): Promise<AccountContract[]> {
  const needed = neededOn(network, pinned)
  const calls = needed.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] }))
  const [derived, ...codes] = await rpc.batch<unknown>([derivation, ...calls], { timeoutMs })
  if (derived instanceof RpcError && !isRevert(derived)) throw new NodeUnreachable(derived.message)
  return needed.map((each, index) => {
    const code = codes[index]
    if (!isHex(code)) throw new NodeUnreachable(`${rpc.host} does not tell the code of contracts`)
    const { known, ...contract } = each
    const pin = pinned[each.address]
    const codeHash = keccak256(code)
    const problem = problemOf(each, code, codeHash === (pin ?? known), derived)
    return { ...contract, codeHash, isPinned: pin !== undefined, ...(problem && { problem }) }
  })
}

function problemOf(
  { address }: Needed,
  code: string,
  isKnown: boolean,
  derived: unknown,
): ContractProblem | undefined {
  if (code === '0x') return 'missing'
  if (!isKnown) return 'unknown-code'
  return address === canonical(modularContracts.factory) && !derivesSample(derived)
    ? 'other-accounts'
    : undefined
}

/**
 * The account of an arbitrary owner. The address at which the factory makes it depends on the code of the proxy, and so
 * proves that code.
 */
const sample = modularAccountOf({
  owners: [{ address: canonical(modularContracts.plugin), weight: 1n }],
  keys: [],
  threshold: 1n,
})

const getAddress = toFunctionSelector('function getAddress(bytes32,bytes32,bytes)')

/** The call that creates the account takes the same values as the call that returns its address. */
const derivation = {
  method: 'eth_call',
  params: [
    { to: sample.creation.factory, data: concatHex([getAddress, slice(sample.creation.data, 4)]) },
    'latest',
  ],
}

function derivesSample(answer: unknown): boolean {
  if (!isHex(answer)) return false
  try {
    const [account] = decodeFunctionResult({
      abi: accountFactoryAbi,
      functionName: 'getAddress',
      data: answer,
    })
    return canonical(account) === sample.account
  } catch {
    return false
  }
}
