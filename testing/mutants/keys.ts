import { edit, type Mutant, proof } from './mutant.ts'

const entitySecret = 'src/custody/secrets/entity-secret.ts'
const ledger = 'src/custody/signing/signing-ledger.test.ts'
const memory = proof('testing/suites/processes/memory.test.ts', 'property 40')
const ciphertexts = (title: string) =>
  proof('src/custody/secrets/entity-secret.test.ts', `property 36: ${title}`)

/** Keys and signatures: bugs here sign unseen or repeated content, or leave a key where it can be read. */
export const keyMutants: readonly Mutant[] = [
  {
    name: 'replay-by-string',
    about: 'used ciphertexts are compared by their text, not by their bytes',
    edits: [
      edit('src/lib/base64.ts', "bytes.toString('base64') === text ? bytes : undefined", 'bytes'),
      edit(entitySecret, ".update(bytes ?? '')", '.update(ciphertext)'),
    ],
    test: ciphertexts('works in no other writing'),
  },
  {
    name: 'spent-ciphertext-accepted',
    about: 'a ciphertext that was used opens the keys again',
    edits: [
      edit(
        'src/custody/store/entity-secrets.ts',
        'create_date = s.create_date where s.request = excluded.request',
        'create_date = s.create_date',
      ),
    ],
    test: ciphertexts('works once among'),
  },
  {
    name: 'second-payload-signed',
    about: 'the signing ledger lets a second payload for a nonce be signed',
    edits: [
      edit(
        'src/custody/signing/signing-ledger.ts',
        'if (!refused) return',
        'if (!refused || refused) return',
      ),
      edit(
        'src/custody/signing/signing-ledger.ts',
        "if (!broken?.startsWith('signatures_')) throw error",
        "if (!broken?.startsWith('signatures_')) throw error\n return rows.length",
      ),
    ],
    test: proof(ledger, 'property 35: of'),
  },
  {
    name: 'ledger-bypassed',
    about: 'payloads are signed without a record in the signing ledger',
    edits: [
      edit(
        'src/custody/signing/grants.ts',
        'await recordPayloads(tx, payloads, nowMs)',
        'void recordPayloads',
      ),
    ],
    test: proof(ledger, 'property 35: of'),
  },
  {
    name: 'ledger-cap-only',
    about: 'the signing ledger accepts a replacement with the same tip',
    edits: [
      edit(
        'migrations/0003_custody.sql',
        'or new.priority_fee < greatest(ceil(last.priority_fee * 1.1), last.priority_fee + 1) then',
        'then',
      ),
    ],
    test: proof(ledger, 'property 35: a replacement is signed only when both'),
  },
  {
    name: 'ciphertext-unspent',
    about: 'a ciphertext that signed a message can be used again',
    edits: [
      edit('src/api/signing/sign-message.ts', 'await spendCiphertext(ctx, secret)', 'void spendCiphertext'),
    ],
    test: proof('src/api/signing/sign-message.test.ts', 'shows a ciphertext once'),
  },
  {
    name: 'any-near-account-signed',
    about: 'a wallet on NEAR signs transactions of another implicit account',
    edits: [
      edit(
        'src/chains/near/signing.ts',
        'if (implicitAccount.test(signer) && signer !== address)',
        'if (implicitAccount.test(signer) && signer === undefined)',
      ),
    ],
    test: proof('testing/conformance/signing-vectors.test.ts', 'is judged as'),
  },
  {
    name: 'transaction-signed-as-message',
    about: 'the message of a transaction on Solana is signed as if it were text',
    edits: [
      edit(
        'src/chains/solana/signing.ts',
        'if (isTransactionOf(bytes, account))',
        'if (isTransactionOf(bytes, account) && bytes.length === 0)',
      ),
    ],
    test: proof('testing/conformance/signing-vectors.test.ts', 'is not signed as a message'),
  },
  {
    name: 'any-chain-signed',
    about: 'a wallet of one blockchain signs transactions for all others',
    edits: [
      edit(
        'src/chains/evm/signing/index.ts',
        'const blockchain = signableChain(account.blockchain, chainId)',
        'const blockchain = signableChain(account.blockchain, chainId) ?? account.blockchain',
      ),
    ],
    test: proof(
      'src/api/signing/sign-transaction.test.ts',
      'is signed by a wallet of a virtual blockchain for listed test networks only',
    ),
  },
  {
    name: 'bytes-left-unsigned',
    about: 'bytes of a transaction that decoding ignores are accepted',
    edits: [
      edit(
        'src/chains/evm/signing/sign-transaction.ts',
        'if (attempt(() => serializeTransaction(parsed)) !== raw)',
        'if (attempt(() => serializeTransaction(parsed)) === undefined)',
      ),
    ],
    test: proof('src/api/signing/sign-transaction.test.ts', 'a number in a longer form'),
  },
  {
    name: 'extra-fields-ignored',
    about: 'typed data may contain fields that are not signed',
    edits: [
      edit(
        'src/chains/evm/signing/sign-typed-data.ts',
        'if (extra !== undefined)',
        "if (extra !== undefined && extra === '')",
      ),
    ],
    test: proof('src/api/signing/sign-typed-data.test.ts', 'an extra field'),
  },
  {
    name: 'missing-fields-ignored',
    about: 'a field that typed data lacks is signed as zero',
    edits: [
      edit(
        'src/chains/evm/signing/sign-typed-data.ts',
        "if (!Object.hasOwn(object, name)) throw new ValueProblem(at, 'is missing') return [name, readValue(reading, fieldType, object[name], at, depth + 1)]",
        "return [name, readValue(reading, fieldType, object[name] ?? '0', at, depth + 1)]",
      ),
    ],
    test: proof('src/api/signing/sign-typed-data.test.ts', 'a missing field'),
  },
  {
    name: 'seed-left',
    about: 'the seed of a wallet set stays in memory after keys were derived from it',
    edits: [edit('src/custody/signing/seed.ts', 'seed.fill(0)', 'undefined')],
    test: memory,
  },
  {
    name: 'entity-secret-left',
    about: 'the entity secret stays in memory after its ciphertext was decrypted',
    edits: [edit('src/custody/transport.ts', 'plain?.fill(0)', 'plain?.at(0)')],
    test: memory,
  },
  {
    name: 'sandbox-key-serves',
    about: 'the published key of the sandbox works in production',
    edits: [edit('src/cli/serve.ts', 'config.refusedEntityId = sandboxEntity.id', 'void config')],
    test: proof('testing/suites/processes/foreign-database.test.ts', 'is refused by name while others serve'),
  },
  {
    name: 'root-key-made-anew',
    about: 'a new root key is made for a database that is sealed with another one',
    edits: [edit('src/sandbox/start.ts', 'if (!found && isKnown)', 'if (!found && !isKnown && isKnown)')],
    test: proof('testing/suites/processes/kept-files.test.ts', 'no new root key is made'),
  },
]
