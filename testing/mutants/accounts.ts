import { edit, engine, type Mutant, proof } from './mutant.ts'

const operations = `${engine}/operations`
const bundling = 'src/engines/treasury/bundling/bundle-operations.ts'
const modular = 'src/engines/modular'
const accounts = 'src/chains/evm/accounts'
const costs = (title: string) => proof('src/api/json-rpc/user-operations/bundle-costs.test.ts', title)
const passkeys = 'src/api/json-rpc/passkeys'

const bundles = (title: string) => proof(`${operations}/bundles.test.ts`, `property 76: ${title}`)
const once = (title: string) => proof(`${operations}/exactly-once.test.ts`, title)
const listed = (title: string) => proof(`${operations}/listed-recipients.test.ts`, title)
const paged = (title: string) => proof('src/api/json-rpc/user-operations/user-operations.test.ts', title)
const inUsdc = (title: string) => proof('src/api/json-rpc/user-operations/pay-in-usdc.test.ts', title)
const passkey = (title: string) => proof(`${passkeys}/passkeys.test.ts`, title)

const first = proof(`${operations}/smart-accounts.test.ts`, 'sends its first operation on each chain')

/** Smart accounts, bundles and sponsorships: bugs here execute twice, lose an operation, or make a treasury pay. */
const operationMutants: readonly Mutant[] = [
  {
    name: 'owners-by-time-alone',
    about: 'wallets that got an owner in one block are shown in any order',
    edits: [
      edit(
        `${modular}/store/mappings.ts`,
        'order by m.bound_block, m.bound_log, m.bound_date,',
        'order by m.bound_date,',
      ),
    ],
    test: proof('src/api/json-rpc/modular-wallets/claims.test.ts', 'that got an owner in one block'),
  },
  {
    name: 'rows-of-no-address',
    about: 'what an address makes with a client key is not counted for that address',
    edits: [
      edit('src/api/json-rpc/limit-rows.ts', 'ofAddress.spend(address, rows)', 'ofAddress.spend(key, rows)'),
    ],
    test: proof('src/api/json-rpc/page-budgets.test.ts', 'property 148: rows'),
  },
  {
    name: 'operation-nonce-reused',
    about: 'operations of one account have one nonce, so that all but one are lost',
    edits: [edit(`${operations}/nonce.ts`, "id.replaceAll('-', '')", "id.replaceAll('-', '').slice(0, 8)")],
    test: first,
  },
  {
    name: 'lone-operation-unseen',
    about: 'an operation that is alone in its bundle is not recognised',
    edits: [
      edit(
        `${operations}/follow-operations.ts`,
        'if (named.length === 0) return { own: [], others: all }',
        'if (named.length <= 1) return { own: [], others: all }',
      ),
    ],
    test: first,
  },
  {
    name: 'bundle-not-released',
    about: 'operations of a bundle that failed wait for ever',
    edits: [
      edit(
        'src/engines/treasury/bundling/start-bundling.ts',
        'await releaseBundles(tx, ctx.clock.nowMs(), withoutEffect)',
        'void releaseBundles',
      ),
    ],
    test: bundles('of a bundle that fails because a stranger'),
  },
  {
    name: 'known-is-cancelled',
    about: 'an operation that a bundle made known is cancelled or denied, and its hold released',
    edits: [edit(`${engine}/store/operations.ts`, 'and k.was_bundled', 'and k.was_bundled and false')],
    test: bundles('an operation that a bundle made known'),
  },
  {
    name: 'signed-operation-cancelled',
    about: 'a transaction is cancelled although its operation is signed',
    edits: [edit(`${engine}/store/replacements.ts`, 'and user_op_hash is null and not', 'and not')],
    test: listed('a signed operation to it goes into no bundle'),
  },
  {
    name: 'operation-accelerated-alone',
    about: 'accelerating an operation asks for a replacement of a transaction that does not exist',
    edits: [
      edit(
        `${engine}/sequence/request-replacement.ts`,
        "return requested === 'bump' ? bundleCarrying(db, ref) : undefined",
        'void bundleCarrying\n return ref',
      ),
    ],
    test: bundles('of a bundle that its owner accelerates'),
  },
  {
    name: 'listed-bundle-accelerated',
    about: 'the price of a bundle is raised although it pays a listed address',
    edits: [
      edit(
        `${engine}/sequence/replace.ts`,
        'const nested = await bundledCalls(tx, [request])',
        'const nested = await bundledCalls(tx, [])',
      ),
    ],
    test: listed('a bundle that holds it is cancelled instead'),
  },
  {
    name: 'listed-since-signed',
    about: 'a signed operation to an address that was listed since is bundled',
    edits: [
      edit(
        `${operations}/deny-listed.ts`,
        "return actions.includes('DENY') ?",
        "return actions.includes('DENY') && row.wasBundled ?",
      ),
    ],
    test: listed('a signed operation to it goes into no bundle'),
  },
  {
    name: 'bundle-screened-outside',
    about: 'a bundle is screened without the operations in it',
    edits: [
      edit(
        `${engine}/screen.ts`,
        'const bundled = ofTreasuries.length > 0 ? await bundledCalls(db, ofTreasuries) : []',
        'const bundled = await bundledCalls(db, ofTreasuries.slice(0, 0))',
      ),
    ],
    test: listed('a bundle that holds it is not signed'),
  },
  {
    name: 'orphaned-operation-lost',
    about: 'the operations of an orphaned block stay confirmed',
    edits: [
      edit(
        `${modular}/follow.ts`,
        'const returned = await returnOperationsToSent(tx, ctx.clock.nowMs(), blockchain, blockHash)',
        "const returned = await returnOperationsToSent(tx, ctx.clock.nowMs(), blockchain, '')",
      ),
    ],
    test: paged('another operation with its nonce takes effect'),
  },
  {
    name: 'deposit-not-filled',
    about: 'a drained deposit of the paymaster is not filled again',
    edits: [
      edit(
        'src/engines/treasury/bundling/fund-paymaster.ts',
        'if (leftAtomic < neededAtomic)',
        'if (leftAtomic < neededAtomic && (depositAtomic > 0n || missing.length > 0))',
      ),
    ],
    test: once('a deposit that another party drained'),
  },
  {
    name: 'bundle-not-simulated',
    about: 'a bundle is sent although one of its operations makes it fail',
    edits: [
      edit(
        bundling,
        "if (outcome.kind === 'passes') return left",
        "if (outcome.kind !== 'unknown') return left",
      ),
    ],
    test: paged('has none when its sponsorship ended'),
  },
  {
    name: 'spoiler-carried-for-ever',
    about: 'an operation that makes each block of its bundles fail is carried again and again',
    edits: [edit(bundling, 'failedBundles >= failedBundlesMax', 'failedBundles > 10 ** 6')],
    test: paged('though another one in its bundle tells blocks from simulations'),
  },
  {
    name: 'data-floor-uncharged',
    about: 'an operation with much data is charged less gas than its transaction pays',
    edits: [
      edit(
        `${accounts}/operation.ts`,
        'least: larger(leastOverheadGas + zeroByteGas * zeros + byteGas * others, floor) + dataGas',
        'least: leastOverheadGas + zeroByteGas * zeros + byteGas * others + dataGas',
      ),
    ],
    test: costs('property 111'),
  },
  {
    name: 'failed-bundles-uncounted',
    about: 'the gas of a bundle that a stranger makes fail counts for nobody',
    edits: [
      edit(
        'src/engines/treasury/bundling/start-bundling.ts',
        'await countFailedBundles(tx, ctx.clock.nowMs(), withoutEffect)',
        'void countFailedBundles',
      ),
    ],
    test: costs('when a stranger executes it first'),
  },
  {
    name: 'bundle-sent-by-estimate',
    about: 'an operation that uses more gas in its block than before makes the bundle of others fail',
    edits: [
      edit(
        bundling,
        'const gasLimit = accountsOn(chain).bundleGas(operations, treasury.address)',
        'const gasLimit = accountsOn(chain).bundleGas(operations, treasury.address) / 2n',
      ),
    ],
    test: costs('when each operation of its bundle uses all gas'),
  },
  {
    name: 'unpayable-operation-blocks',
    about: 'an operation that the treasury cannot pay for stops those behind it',
    edits: [
      edit(bundling, 'gasAlone(row) <= payableGas', 'gasAlone(row) > 0n'),
      edit(
        bundling,
        'if (chosen.length === 0) {',
        'if (chosen.length === 0 || gasOfBundle(chain, treasury, chosen) * maxFeeAtomic > coinsAtomic) {',
      ),
    ],
    test: costs('delays no operation of others'),
  },
  {
    name: 'listed-operation-blocks',
    about: 'an operation that screening keeps out of bundles stops those behind it',
    edits: [edit(bundling, 'await postpone(ctx, chain, passing)', 'await postpone(ctx, chain, waiting)')],
    test: proof(`${operations}/bundles.test.ts`, 'because its recipient was listed, delays no other'),
  },
  {
    name: 'unnamed-revert-blocks',
    about: 'an operation with which a bundle reverts without a reason stops those behind it',
    edits: [edit(bundling, "if (outcome.kind === 'unknown')", "if (outcome.kind !== 'failed')")],
    test: proof(`${operations}/bundles.test.ts`, 'reverts without a reason delay no other'),
  },
  {
    name: 'executed-operation-waits',
    about: 'an operation that a stranger executed waits for a bundle for ever',
    edits: [edit('src/engines/transactions/follow.ts', 'await endOperations(tx, changed)', '')],
    test: once('an operation that a stranger bundles is executed once'),
  },
]

/** Bugs in the requests of pages, and in what is read from blocks. */
const pageMutants: readonly Mutant[] = [
  {
    name: 'underpriced-accepted',
    about: 'an operation that pays in USDC offers less than its bundle costs the treasury',
    edits: [
      edit(
        `${modular}/pay-in-usdc.ts`,
        'if (operation.maxFeeAtomic < least)',
        'if (operation.maxFeeAtomic < 0n)',
      ),
    ],
    test: inUsdc('is refused below the price of its bundle'),
  },
  {
    name: 'underpriced-bundled',
    about: 'the treasury bundles an operation that pays in USDC less than the bundle costs now',
    edits: [edit(bundling, 'return waiting.filter((row) => !isUnderpriced(row))', 'return waiting')],
    test: inUsdc('waits while a block takes more than it offers'),
  },
  {
    name: 'payers-bundled-with-others',
    about: 'an operation that pays in USDC shares a bundle, which its account can spoil',
    edits: [edit(bundling, 'row.failedBundles > 0 || isPaidByAccount(row)', 'row.failedBundles > 0')],
    test: inUsdc('goes alone, so that it can spoil no bundle of others'),
  },
  {
    name: 'unsponsored-accepted',
    about: 'an operation that nobody sponsored is accepted',
    edits: [
      edit(
        `${modular}/send-operation.ts`,
        'if (!sponsor || sponsorship?.address !== paymaster)',
        'if (!sponsor || paymaster === undefined)',
      ),
    ],
    test: paged('operations that another sponsored'),
  },
  {
    name: 'unsimulated-accepted',
    about: 'an operation with a forged signature is accepted',
    edits: [
      edit(
        `${modular}/send-operation.ts`,
        'await requirePassing(chain, operation, sponsor)\n  await requireScreenedOperation(ctx, chain, operation)',
        'void requirePassing\n  await requireScreenedOperation(ctx, chain, operation)',
      ),
    ],
    test: paged('operations that another sponsored'),
  },
  {
    name: 'sponsorships-unlocked',
    about: 'sponsorships that come at once do not count each other',
    edits: [
      edit(
        `${modular}/sponsor-operation.ts`,
        'await lockSponsorships(ctx.db, entityId, blockchain)',
        'void lockSponsorships',
      ),
    ],
    test: paged('property 77'),
  },
  {
    name: 'price-unbounded',
    about: 'a page makes the treasury promise any price',
    edits: [
      edit(
        `${modular}/operation-gas.ts`,
        'if (maxFeeAtomic > priceMax)',
        'if (maxFeeAtomic < 0n && priceMax)',
      ),
    ],
    test: paged('bad fields'),
  },
  {
    name: 'gas-left-out',
    about: 'an operation whose limits leave out gas that the treasury pays is sponsored',
    edits: [
      edit(`${modular}/operation-gas.ts`, 'if (operation.preVerificationGas < least)', 'if (least < 0n)'),
    ],
    test: paged('bad fields'),
  },
  {
    name: 'gas-for-nothing-sponsored',
    about: 'an operation that is charged more gas than its data needs is sponsored',
    edits: [
      edit(`${modular}/operation-gas.ts`, 'if (operation.preVerificationGas > most)', 'if (most < 0n)'),
    ],
    test: paged('bad fields'),
  },
  {
    name: 'creation-of-any-account',
    about: 'the treasury pays for an account that its data does not create',
    edits: [
      edit(
        `${modular}/wallets.ts`,
        'if (creation && created?.account !== account)',
        'if (creation && !created)',
      ),
    ],
    test: paged('bad fields'),
  },
  {
    name: 'listed-payment-sponsored',
    about: 'a payment to a listed address is sponsored',
    edits: [
      edit(
        `${modular}/sponsor-operation.ts`,
        'await requireAllowed(ctx, chain, operation)',
        'void requireAllowed',
      ),
    ],
    test: paged('a recipient that screening denies'),
  },
  {
    name: 'calls-within-calls-unbounded',
    about: 'calls that a stranger encoded within each other are read without a bound',
    edits: [edit(`${accounts}/bundle-calls.ts`, 'left.selfCalls-- < 0', 'left.selfCalls-- < -20_000')],
    test: proof(`${accounts}/executed.test.ts`, 'calls that a stranger encoded within each other'),
  },
  {
    name: 'coins-of-batches-unread',
    about: 'the native coins of a batch within a batch are not booked',
    edits: [edit(`${accounts}/bundle-calls.ts`, 'const depthMax = 4', 'const depthMax = 0')],
    test: proof(`${accounts}/executed.test.ts`, 'native coins in a batch'),
  },
  {
    name: 'operations-of-all-entities',
    about: 'an entity lists the operations of others',
    edits: [
      edit(
        `${modular}/store/user-operations.ts`,
        'scope: sql`u.entity_id =',
        'scope: sql`true or u.entity_id =',
      ),
    ],
    test: proof('src/api/modular-wallets/modular-wallets.test.ts', 'is unknown to another entity'),
  },
  {
    name: 'passkey-on-any-host',
    about: 'a passkey works on another host than the one that registered it',
    edits: [edit(`${passkeys}/log-in.ts`, 'if (passkey.rpId !== rpId)', 'if (!passkey.rpId)')],
    test: passkey('property 78: each with the passkeys that its own host'),
  },
  {
    name: 'challenge-taken-twice',
    about: 'of several answers to one challenge more than one is accepted',
    edits: [
      edit(
        `${passkeys}/store.ts`,
        'with taken as ( delete from passkey_challenges where',
        'with taken as (\n update passkey_challenges set username = username where',
      ),
    ],
    test: passkey('property 78: takes each answer once, and none after'),
  },
  {
    name: 'counter-falls-back',
    about: 'a copied authenticator, whose counter falls back, is accepted',
    edits: [
      edit(`${passkeys}/store.ts`, 'and (counter <', 'and (true or counter <'),
      edit(`${passkeys}/log-in.ts`, 'counter: passkey.counter', 'counter: 0'),
    ],
    test: passkey('property 78: refuses a counter that falls back'),
  },
  {
    name: 'look-alike-origin',
    about: 'pages of an origin that looks like an allowed one use passkeys',
    edits: [
      edit(
        'src/lib/web-origin.ts',
        'loopbackHosts.includes(hostname)',
        'loopbackHosts.some((host) => hostname.includes(host))',
      ),
    ],
    test: passkey('property 78: refuses'),
  },
]

export const accountMutants: readonly Mutant[] = [...operationMutants, ...pageMutants]
