/** Every value that is sealed under the root key is in a listed column: a rotation of the key finds it. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealedColumns } from '#identity/sealed-columns/index'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

/** Columns of bytes that are no sealed values: hashes, public keys, signatures, what chains show. A new column is put here or sealed. */
const unsealed = new Set([
  'api_keys.secret_hash',
  'attempts.raw_transaction',
  'attestation_keys.public_key',
  'attestation_signatures.digest',
  'audit_heads.hash',
  'audit_heads.signature',
  'audit_links.entry_hash',
  'audit_links.hash',
  'audit_links.previous',
  'entity_secrets.check_value',
  'event_logs.data',
  'idempotency_keys.fingerprint',
  'journals.head_hash',
  'login_codes.code_mac',
  'member_sessions.token_hash',
  'members.password_hash',
  'members.password_salt',
  'operation_signatures.digest',
  'passkey_challenges.challenge',
  'passkey_challenges.user_handle',
  'passkeys.credential_id',
  'passkeys.public_key',
  'passkeys.user_handle',
  'payout_batches.content_hash',
  'policy_decisions.intent_sha256',
  'refresh_tokens.sha256',
  'root_keys.check_value',
  'root_keys.wrapped_key',
  'signatures.digest',
  'signatures.replaces',
  'spent_ciphertexts.request',
  'spent_ciphertexts.sha256',
  'transactions.call_data',
  'unified_payments.nonce',
  'unified_payments.signature',
  'unified_signed_intents.digest',
  'unified_signed_intents.intents',
  'unified_signed_intents.signature',
  'unified_transfers.fingerprint',
  'unified_transfers.payload',
  'unified_transfers.signature',
  'used_id_tokens.sha256',
  'user_key_wraps.salt',
  'user_token_keys.public_key',
  'webhook_keys.ed25519_public_key',
  'webhook_keys.public_key',
  'x402_payments.approval_signature',
  'x402_payments.nonce',
  'x402_payments.signature',
])

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`)

it('property 286: each column of bytes is sealed, listed and guarded, or known not to be sealed', async () => {
  const found = await test.database.all<{ name: string }>(sql`select table_name || '.' || column_name as name
    from information_schema.columns where table_schema = 'public' and data_type = 'bytea'`)
  const names = found.map(({ name }) => name)
  expect(names.filter((name) => !unsealed.has(name)).toSorted()).toEqual(listed.toSorted())
  expect([...unsealed].filter((name) => !names.includes(name))).toEqual([])
  const guarded = await test.database.all<{ name: string }>(sql`select c.relname || '.' || a.attname as name
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any(t.tgattr)
    where p.proname = 'check_root_key'`)
  expect(guarded.map(({ name }) => name).toSorted()).toEqual(listed.toSorted())
})

it('property 286: every context that something is sealed for belongs to a listed column, or is stored nowhere', () => {
  const columns = ['custody/root-key/columns', 'identity/sealed-columns/columns']
    .map((path) => sourceOf(path))
    .join('')
  const contexts = ['custody/sealing/contexts', 'identity/contexts'].flatMap((path) =>
    [...sourceOf(path).matchAll(/^export const (\w+)/gm)].map(([, name]) => name!),
  )
  expect(contexts.length).toBeGreaterThan(20)
  expect(contexts.filter((name) => !columns.includes(`${name}(`)).toSorted()).toEqual([
    'auditHeadKey', // derives
    'bankNumberFingerprint', // derives
    'grantedKey', // listed by its hash
    'loginCode', // derives
    'messageToken', // derives
    'pendingCodeKey', // in the hands of a session, for ten minutes
    'recoveryFile', // in the hands of its owner
    'userKeyInner', // within an outer layer
  ])
})

const sourceOf = (path: string) => readFileSync(`src/${path}.ts`, 'utf8')
