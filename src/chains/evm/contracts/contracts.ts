import { getAddress, getContractAddress } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type {
  AbiError,
  AbiParameter,
  ContractAbi,
  ContractQuery,
  Contracts,
  FoundContract,
  QueryOutcome,
} from '../../facets/contracts.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { stablecoinsOf, tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { readContractAbi } from '../abi/contract-abi.ts'
import { encodeCreation, readBytecode } from '../abi/creation.ts'
import { decodeValues } from '../abi/decode.ts'
import { encodeCall, functionSignature, selectorOf } from '../abi/encode.ts'
import { canonicalEvent, decodeLog, readEventSignature } from '../abi/event.ts'
import { parseSignature } from '../abi/signature.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import type { AbiType } from '../abi/types.ts'
import { callDataBytesMax } from '../payments/build.ts'
import { callLimits } from '../rpc/call-bounds.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { AnswerTooLarge, isLimitCode } from '../rpc/rpc-errors.ts'
import { metadataLinkOf } from './metadata-link.ts'
import { explainRevert, isRevert } from './revert.ts'

/** Storage slots of EIP-1967: keccak256 of `eip1967.proxy.implementation` and of `eip1967.proxy.beacon`, minus one. */
export const implementationSlot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const beaconSlot = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
/** The first four bytes of keccak256("implementation()"). */
const implementationSelector = '0x5c60da1b'
/** The whole code of a minimal proxy (EIP-1167). */
const minimalProxy = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/

/** Whether there is a contract at an address. */
export const hasCode = async (rpc: Rpc, address: Address): Promise<boolean> =>
  (await rpc.call('eth_getCode', [address, 'latest'])) !== '0x'

/** The contracts of a chain through its endpoints. */
export const contractsThrough = (
  rpc: Rpc,
  { network, local, callGasMax }: { network: Network; local: boolean; callGasMax: bigint },
): Omit<Contracts, 'logHistory'> => ({
  hasCode: (address) => hasCode(rpc, address),
  encodeCall,
  callDataBytesMax,
  readAbi: readContractAbi,
  readConstructor,
  constructorSignature: (parameters) => functionSignature('constructor', parameters),
  readBytecode,
  encodeCreation,
  createdAddress: (creator, nonce) =>
    getContractAddress({ from: creator as Hex, nonce: BigInt(nonce) }).toLowerCase() as Address,
  functionBySignature: ({ functions }, signature) => {
    const { name, parameters } = parseSignature(signature)
    const asked = functionSignature(name, parameters)
    return functions.find(
      (each) => each.type === 'function' && functionSignature(each.name, each.inputs) === asked,
    )
  },
  functionByData,
  decodeOutputs: ({ outputs }, data) => decodeValues(outputs, data),
  readEventSignature,
  canonicalEvent,
  decodeLog,
  metadataLinkOf,
  contractAt: (address) => contractAt(rpc, address, callGasMax),
  query: (asked, errors) => query(rpc, asked, errors, callGasMax),
  ownAbi: (address) =>
    local && stablecoinsOf(network).some((token) => tokenAddress(token) === address)
      ? JSON.stringify(stablecoinAbi)
      : undefined,
  checksumAddress: (address) => getAddress(address),
})

const named = ({ type, components }: AbiType): AbiParameter => ({
  name: '',
  type,
  ...(components && { components: components.map(named) }),
})

function readConstructor(signature: string): AbiParameter[] {
  const read = () => {
    try {
      return parseSignature(signature)
    } catch (error) {
      if (error instanceof ValueProblem) throw new ValueProblem('constructorSignature', error.reason)
      throw error
    }
  }
  const { name, parameters } = read()
  if (name === 'constructor') return parameters.map(named)
  throw new ValueProblem('constructorSignature', 'must be a constructor, such as "constructor(uint256)"')
}

function functionByData({ functions }: ContractAbi, data: Hex) {
  const selector = data.slice(0, 10).toLowerCase()
  return functions.find(
    ({ type, name, inputs }) => type === 'function' && selectorOf(name, inputs) === selector,
  )
}

async function contractAt(
  rpc: Rpc,
  address: Address,
  callGasMax: bigint,
): Promise<FoundContract | undefined> {
  const [code, implementation, beacon] = await rpc.batch<unknown>(
    [
      { method: 'eth_getCode', params: [address, 'latest'] },
      { method: 'eth_getStorageAt', params: [address, implementationSlot, 'latest'] },
      { method: 'eth_getStorageAt', params: [address, beaconSlot, 'latest'] },
    ],
    callLimits,
  )
  if (!isHex(code)) throw new NodeUnreachable(`the node does not tell the code of ${address}`)
  if (code === '0x') return undefined
  const minimal = minimalProxy.exec(code.toLowerCase())?.[1]
  if (minimal) return { code, implementation: `0x${minimal}` }
  const stored = addressIn(implementation)
  if (stored) return { code, implementation: stored }
  const beaconAddress = addressIn(beacon)
  const behind = beaconAddress && (await implementationOfBeacon(rpc, beaconAddress, callGasMax))
  return { code, implementation: behind }
}

async function implementationOfBeacon(
  rpc: Rpc,
  address: Address,
  callGasMax: bigint,
): Promise<Address | undefined> {
  const outcome = await query(rpc, { address, data: implementationSelector }, [], callGasMax)
  return outcome.kind === 'returned' ? addressIn(outcome.data) : undefined
}

/** The address in a word of storage or of an answer; `undefined` for zero and for any other content. */
function addressIn(word: unknown): Address | undefined {
  const [, digits] = /^0x0{24}([0-9a-f]{40})$/i.exec(String(word)) ?? []
  return digits === undefined || /^0+$/.test(digits) ? undefined : `0x${digits.toLowerCase()}`
}

async function query(
  rpc: Rpc,
  { address: to, data, from, blockNumber }: ContractQuery,
  errors: readonly AbiError[],
  callGasMax: bigint,
): Promise<QueryOutcome> {
  const request = { to, data, gas: toQuantity(callGasMax), ...(from !== undefined && { from }) }
  const at = blockNumber === undefined ? 'latest' : toQuantity(blockNumber)
  try {
    const answer = await rpc.call('eth_call', [request, at], callLimits)
    if (isHex(answer)) return { kind: 'returned', data: answer }
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      return {
        kind: 'refused',
        message: `the answer has more than ${callLimits.answerBytesMax} bytes: ask for less of it at a time`,
      }
    if (!(error instanceof RpcError) || isLimitCode(error.rpcCode)) throw error
    if (isRevert(error)) return { kind: 'reverted', message: explainRevert(error, errors) }
    return { kind: 'refused', message: error.message.slice(0, 300) }
  }
  throw new NodeUnreachable('the answer to a call is not hexadecimal')
}
