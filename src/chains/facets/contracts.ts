import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { LogHistory, LogQuery } from './blocks.ts'

/** A parameter as a contract declares it; `components` are those of a tuple, also of an array of tuples. */
export type AbiParameter = { name: string; type: string; indexed?: boolean; components?: AbiParameter[] }

export type AbiFunction = {
  type: 'function' | 'constructor' | 'receive' | 'fallback'
  /** Empty for all but functions. */
  name: string
  stateMutability: 'pure' | 'view' | 'nonpayable' | 'payable'
  inputs: AbiParameter[]
  outputs: AbiParameter[]
}

export type AbiEvent = { name: string; anonymous: boolean; inputs: AbiParameter[] }
export type AbiError = { name: string; inputs: AbiParameter[] }

/** An event by its signature. `inputs` are absent when the signature does not show which of them are in topics. */
export type EventSignature = {
  name: string
  canonical: string
  hash: Hex
  inputs: AbiParameter[] | undefined
}

/** The interface of a contract, in the order of its declaration. */
export type ContractAbi = { functions: AbiFunction[]; events: AbiEvent[]; errors: AbiError[] }

export type ContractQuery = {
  address: Address
  data: Hex
  from?: Address | undefined
  blockNumber?: number | undefined
}

/** `refused`: the node cannot execute the call, for example without the state of that block. */
export type QueryOutcome =
  | { kind: 'returned'; data: Hex }
  | { kind: 'reverted'; message: string }
  | { kind: 'refused'; message: string }

/** The contract at an address. */
export type FoundContract = { code: Hex; implementation: Address | undefined }

/** Contracts of one chain. Problems of values are thrown as ValueProblem, which names the field. */
export type Contracts = {
  /** Whether there is a contract at an address. */
  hasCode(address: Address): Promise<boolean>
  /**
   * The data that calls the function with this signature, `name(type,…)`, with values as in JSON.
   * Throws ValueProblem, which names `abiFunctionSignature` or the value.
   */
  encodeCall(signature: string, values: readonly unknown[]): Hex
  /** Maximum bytes of data of a call. */
  callDataBytesMax: number
  /** Reads an ABI from its JSON. */
  readAbi(json: string): ContractAbi
  /** The parameters of a constructor by its signature, `constructor(uint256)`. */
  readConstructor(signature: string): AbiParameter[]
  /** The signature of a constructor with these parameters. */
  constructorSignature(parameters: readonly AbiParameter[]): string
  /** The bytecode of a request, as far as it can create a contract. */
  readBytecode(bytecode: string): Hex
  /** The data that creates a contract: its bytecode and the encoded parameters of its constructor. */
  encodeCreation(bytecode: Hex, parameters: readonly AbiParameter[], values: readonly unknown[]): Hex
  /** The address of the contract that the transaction of `creator` with this nonce creates. */
  createdAddress(creator: Address, nonce: number): Address
  /** The function with this signature, `name(type,…)`. */
  functionBySignature(abi: ContractAbi, signature: string): AbiFunction | undefined
  /** The function that this data calls. */
  functionByData(abi: ContractAbi, data: Hex): AbiFunction | undefined
  /** The values that a function returned, as JSON in the order of the ABI; `undefined` where the data does not fit it. */
  decodeOutputs(called: AbiFunction, data: Hex): unknown[] | undefined
  /** Reads the signature of an event, canonical or as its declaration spells it. */
  readEventSignature(text: string): EventSignature
  /** The canonical signature of an event, `name(type,…)`. */
  canonicalEvent(event: AbiEvent): string
  /** The values of a log as JSON, in the order of the parameters; `undefined` where topics or data do not fit them. */
  decodeLog(inputs: readonly AbiParameter[], topics: readonly Hex[], data: Hex): unknown[] | undefined
  /** Reads the logs of one event in block order, over a range of blocks that are final. */
  logHistory(query: LogQuery): Promise<LogHistory>
  /** The address of the compiler's metadata, as bytecode or code ends with it; `undefined` where it names none. */
  metadataLinkOf(code: Hex): string | undefined
  /** The contract at an address, with its implementation where it is a proxy (EIP-1967, EIP-1167). */
  contractAt(address: Address): Promise<FoundContract | undefined>
  /** Executes a call without a transaction. `errors` are those that a revert is decoded with. */
  query(query: ContractQuery, errors: readonly AbiError[]): Promise<QueryOutcome>
  /** The ABI of a contract that this program deployed itself on a local chain, as JSON. */
  ownAbi(address: Address): string | undefined
  /** The address in the mixed case of its checksum. */
  checksumAddress(address: Address): string
}
