/** Writes the ledger as the REST interface of a node does: numbers of 64 bits as text, addresses without leading zeros. */
import { type Hex, hexOf } from '#lib/hex'
import { shortAddress } from './addresses.ts'
import { assetAt } from './assets.ts'
import { type LedgerBlock, type LedgerTransaction, rootHashOf, type UserTransaction } from './blocks.ts'
import type { FunctionCall, ReadTransaction, TransactionSigner } from './codec.ts'
import { decodeValue, entryFunctions } from './functions.ts'
import type { ChainEvent } from './movements.ts'
import type { AccountState, StateWrite, StoreState } from './state.ts'

export type RestJson = Record<string, unknown>

export const showBlock = (block: LedgerBlock): RestJson => ({
  block_height: String(block.height),
  block_hash: block.hash,
  block_timestamp: String(block.timestampUs),
  first_version: String(block.firstVersion),
  last_version: String(block.lastVersion),
})

export function showPending(transaction: ReadTransaction, hash: string): RestJson {
  return { type: 'pending_transaction', hash, ...showRequest(transaction) }
}

export function showCommitted(entry: LedgerTransaction, blockHash: Hex): RestJson {
  const base = {
    version: String(entry.version),
    hash: entry.hash,
    state_change_hash: rootHashOf('state change', entry),
    event_root_hash: rootHashOf('events', entry),
    state_checkpoint_hash: entry.kind === 'epilogue' ? rootHashOf('checkpoint', entry) : null,
    accumulator_root_hash: rootHashOf('accumulator', entry),
  }
  if (entry.kind === 'user') return { type: 'user_transaction', ...base, ...showExecuted(entry) }
  const plain = { ...base, gas_used: '0', success: true, vm_status: 'Executed successfully', changes: [] }
  const timestamp = String(entry.timestampUs)
  if (entry.kind === 'epilogue')
    return { type: 'block_epilogue_transaction', ...plain, timestamp, block_end_info: blockEndInfo }
  if (entry.kind === 'genesis')
    return { type: 'genesis_transaction', ...plain, payload: genesisPayload, events: [] }
  const event = {
    type: '0x1::block::NewBlock',
    data: { hash: blockHash, height: String(entry.height), time_microseconds: timestamp },
  }
  return {
    type: 'block_metadata_transaction',
    ...plain,
    id: blockHash,
    epoch: '1',
    round: String(entry.height),
    events: [showEvent(event)],
    previous_block_votes_bitvec: [255],
    proposer: '0x1',
    failed_proposer_indices: [],
    timestamp,
  }
}

const blockEndInfo = {
  block_gas_limit_reached: false,
  block_output_limit_reached: false,
  block_effective_block_gas_units: 0,
  block_approx_output_size: 0,
}

const genesisPayload = {
  type: 'write_set_payload',
  write_set: { type: 'direct_write_set', changes: [], events: [] },
}

export const showExecuted = ({
  transaction,
  outcome,
  writes,
  timestampUs,
}: Pick<UserTransaction, 'transaction' | 'outcome' | 'writes' | 'timestampUs'>): RestJson => ({
  gas_used: String(outcome.gasUnits),
  success: outcome.isSuccess,
  vm_status: outcome.vmStatus,
  changes: writes.flatMap(showWrite),
  ...showRequest(transaction),
  replay_protection_nonce: null,
  events: outcome.events.map(showEvent),
  timestamp: String(timestampUs),
})

const showRequest = (transaction: ReadTransaction): RestJson => ({
  sender: shortAddress(transaction.sender),
  sequence_number: String(transaction.sequence),
  max_gas_amount: String(transaction.maxGas),
  gas_unit_price: String(transaction.gasPrice),
  expiration_timestamp_secs: String(transaction.expiryS),
  payload: showCall(transaction.call),
  signature: showSignature(transaction),
})

function showCall({ name, typeArguments, arguments: values }: FunctionCall): RestJson {
  const parameters = entryFunctions[name]?.parameters
  return {
    type: 'entry_function_payload',
    function: name,
    type_arguments: typeArguments,
    arguments: values.map((bytes, index) => showArgument(parameters?.[index], bytes)),
  }
}

function showArgument(type: Parameters<typeof decodeValue>[0] | undefined, bytes: Buffer): unknown {
  const value = type === undefined ? undefined : decodeValue(type, bytes)
  if (value === undefined) return hexOf(bytes)
  if (type?.startsWith('0x1::object::Object')) return { inner: shortAddress(value as Hex) }
  return showValue(value)
}

/** A value as JSON: numbers as text, addresses in their short form. */
export function showValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(showValue)
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value) ? shortAddress(value) : value
}

function showSignature({ signer, feePayer }: ReadTransaction): RestJson {
  if (!feePayer) return showSigner(signer)
  return {
    type: 'fee_payer_signature',
    sender: showSigner(signer),
    secondary_signer_addresses: [],
    secondary_signers: [],
    fee_payer_address: shortAddress(feePayer.address),
    fee_payer_signer: showSigner(feePayer.signer),
  }
}

function showSigner(signer: TransactionSigner): RestJson {
  if (signer.scheme === 'none') return { type: 'no_account_signature' }
  const [publicKey, signature] = [hexOf(signer.publicKey), hexOf(signer.signature)]
  if (signer.scheme === 'ed25519') return { type: 'ed25519_signature', public_key: publicKey, signature }
  return {
    type: 'single_key_signature',
    public_key: { type: 'ed25519', value: publicKey },
    signature: { type: 'ed25519', value: signature },
  }
}

const showEvent = ({ type, data, guid }: ChainEvent): RestJson => ({
  guid: {
    creation_number: guid?.creation ?? '0',
    account_address: guid ? shortAddress(guid.account) : '0x0',
  },
  sequence_number: '0',
  type,
  data,
})

function showWrite({ table, key, value }: StateWrite): RestJson[] {
  const resource = (data: RestJson) => ({
    type: 'write_resource',
    address: shortAddress(key),
    state_key_hash: key,
    data,
  })
  if (table === 'accounts') return [resource(accountResource(key, value as AccountState))]
  if (table === 'stores') return storeResources(value as StoreState).map(resource)
  return []
}

export const accountResource = (address: string, { sequence }: AccountState): RestJson => ({
  type: '0x1::account::Account',
  data: {
    authentication_key: address,
    coin_register_events: eventHandle(address, '0'),
    guid_creation_num: '4',
    key_rotation_events: eventHandle(address, '1'),
    rotation_capability_offer: { for: { vec: [] } },
    sequence_number: String(sequence),
    signer_capability_offer: { for: { vec: [] } },
  },
})

const eventHandle = (address: string, creation: string): RestJson => ({
  counter: '0',
  guid: { id: { addr: shortAddress(address), creation_num: creation } },
})

export const storeResources = ({ owner, metadata, balance }: StoreState): RestJson[] => [
  {
    type: '0x1::object::ObjectCore',
    data: {
      allow_ungated_transfer: false,
      guid_creation_num: '1125899906842624',
      owner: shortAddress(owner),
    },
  },
  {
    type: '0x1::fungible_asset::FungibleStore',
    data: { balance: String(balance), frozen: false, metadata: { inner: shortAddress(metadata) } },
  },
]

export function assetResources(metadata: string, supply: bigint): RestJson[] {
  const asset = assetAt(metadata)
  if (!asset) return []
  const { name, symbol, decimals } = asset
  return [
    {
      type: '0x1::fungible_asset::Metadata',
      data: { name, symbol, decimals, icon_uri: '', project_uri: '' },
    },
    {
      type: '0x1::fungible_asset::ConcurrentSupply',
      data: { current: { value: String(supply), max_value: String(2n ** 128n - 1n) } },
    },
  ]
}
