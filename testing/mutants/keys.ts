import { edit, type Mutant, proof } from './mutant.ts'

const entitySecret = 'src/custody/entity-secret.ts'
const ledger = 'src/custody/signing-ledger.test.ts'
const memory = proof('testing/memory.test.ts', 'property 40')
const ciphertexts = (title: string) => proof('src/custody/entity-secret.test.ts', `property 36: ${title}`)

/** What keys sign, and what opens them. */
export const keyMutants: readonly Mutant[] = [
  {
    name: 'replay-by-string',
    about: 'spent ciphertexts are known by their text',
    edits: [
      edit('src/lib/base64.ts', "bytes.toString('base64') === text ? bytes : undefined", 'bytes'),
      edit(entitySecret, ".update(bytes ?? '')", '.update(ciphertext)'),
    ],
    test: ciphertexts('works in no other writing'),
  },
  {
    name: 'lenient-base64',
    about: 'one ciphertext can be written in many ways',
    edits: [edit('src/lib/base64.ts', "bytes.toString('base64') === text ? bytes : undefined", 'bytes')],
    test: ciphertexts('works in no other writing'),
  },
  {
    name: 'replay-table-in-memory',
    about: 'each process remembers only the ciphertexts that it saw itself',
    edits: [
      edit(
        entitySecret,
        'const current = await insertSpent(ctx.db, spent, secret.generation)',
        "const current = !seenHere.has(ctx.custody, spent.sha256) || !insertSpent\n    if (!current) throw new ApiError('ciphertextReused')",
      ),
      edit(
        entitySecret,
        "const uniqueViolation = '23505'",
        "const memory = new WeakMap<object, Set<string>>()\nconst seenHere = {\n  has: (custody: object, sha256: Buffer) => {\n    const mine = memory.get(custody) ?? new Set<string>()\n    memory.set(custody, mine)\n    const known = mine.has(sha256.toString('hex'))\n    mine.add(sha256.toString('hex'))\n    return known\n  },\n}\nconst uniqueViolation = '23505'",
      ),
    ],
    test: ciphertexts('works once among'),
  },
  {
    name: 'second-payload-signed',
    about: 'the signing ledger writes down what it should refuse',
    edits: [
      edit(
        'src/custody/signing-ledger.ts',
        '  if (!refused) return\n  const { nonce',
        '  if (!refused || refused) return\n  const { nonce',
      ),
      edit(
        'src/custody/signing-ledger.ts',
        "if (!broken?.startsWith('signatures_')) throw error\n",
        "if (!broken?.startsWith('signatures_')) throw error\n    return rows.length\n",
      ),
    ],
    test: proof(ledger, 'property 35: of'),
  },
  {
    name: 'ledger-bypassed',
    about: 'signatures are made without a place in the signing ledger',
    edits: [
      edit(
        'src/custody/grants.ts',
        '  await recordPayloads(tx, payloads, nowMs)\n',
        '  void recordPayloads\n',
      ),
    ],
    test: proof(ledger, 'property 35: of'),
  },
  {
    name: 'ledger-cap-only',
    about: 'the signing ledger lets a replacement keep its tip',
    edits: [
      edit(
        'migrations/0009_signatures.sql',
        '\n    or new.priority_fee < greatest(ceil(last.priority_fee * 1.1), last.priority_fee + 1) then',
        ' then',
      ),
    ],
    test: proof(ledger, 'property 35: a replacement is signed only when both'),
  },
  {
    name: 'key-made-anew',
    about: 'every start makes a key pair and throws it away',
    edits: [edit('src/custody/transport.ts', 'if (known.size > 0 || closed) return', 'if (closed) return')],
    test: proof('src/custody/rotation.test.ts', 'keep taking what was encrypted to the older ones'),
  },
  {
    name: 'ciphertext-unspent',
    about: 'a ciphertext that signed a message can be used again',
    edits: [
      edit(
        'src/api/signing/sign-message.ts',
        '  await spendCiphertext(ctx, secret)\n',
        '  void spendCiphertext\n',
      ),
    ],
    test: proof('src/api/signing/sign-message.test.ts', 'shows a ciphertext once'),
  },
  {
    name: 'any-chain-signed',
    about: 'a wallet of one blockchain signs transactions for all others',
    edits: [
      edit(
        'src/api/signing/sign-transaction.ts',
        'if (!signableChain(wallet.blockchain as Blockchain, chainId)) {',
        'if (!signableChain(wallet.blockchain as Blockchain, chainId) && chainId < 0) {',
      ),
    ],
    test: proof(
      'src/api/signing/sign-transaction.test.ts',
      'is signed by a wallet of a virtual blockchain for listed test networks only',
    ),
  },
  {
    name: 'bytes-left-unsigned',
    about: 'bytes of a transaction that nobody reads are taken',
    edits: [
      edit(
        'src/chains/evm/sign-transaction.ts',
        'if (attempt(() => serializeTransaction(parsed)) !== raw)',
        'if (attempt(() => serializeTransaction(parsed)) === undefined)',
      ),
    ],
    test: proof('src/api/signing/sign-transaction.test.ts', 'a number in a longer form'),
  },
  {
    name: 'extra-fields-ignored',
    about: 'typed data shows more than is signed',
    edits: [
      edit(
        'src/chains/evm/sign-typed-data.ts',
        'if (extra !== undefined)\n',
        "if (extra !== undefined && extra === '')\n",
      ),
    ],
    test: proof('src/api/signing/sign-typed-data.test.ts', 'an extra field'),
  },
  {
    name: 'missing-fields-ignored',
    about: 'a field that typed data lacks is signed as zero',
    edits: [
      edit(
        'src/chains/evm/sign-typed-data.ts',
        "if (!Object.hasOwn(object, name)) throw new ValueProblem(at, 'is missing')\n      return [name, readValue(reading, fieldType, object[name], at, depth + 1)]",
        "return [name, readValue(reading, fieldType, object[name] ?? '0', at, depth + 1)]",
      ),
    ],
    test: proof('src/api/signing/sign-typed-data.test.ts', 'a missing field'),
  },
  {
    name: 'seed-left',
    about: 'the seed of a wallet set stays in memory when keys were derived from it',
    edits: [edit('src/custody/hierarchy.ts', '  seed.fill(0)\n', '')],
    test: memory,
  },
  {
    name: 'entity-secret-left',
    about: 'the entity secret stays in memory when its ciphertext was decrypted',
    edits: [edit('src/custody/transport.ts', 'plain?.fill(0)', 'plain?.at(0)')],
    test: memory,
  },
  {
    name: 'opening-keys-left',
    about: 'the key that opens one sealed value stays in memory when that was opened',
    edits: [edit('src/custody/sealing.ts', '    own.fill(0)\n', '')],
    test: memory,
  },
]
