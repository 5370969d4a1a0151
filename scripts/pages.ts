import { notBuilt, unansweredCodes } from '#api/index'
import { type Blockchain, environmentOf, isVirtual, walletBlockchains } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { WalletSigning } from '#chains/facets/signing'
import { stablecoinsOf } from '#chains/network'
import type { Network } from '#chains/networks/index'
import { networkOf, networks } from '#chains/networks/index'
import { priceUnitOf } from '#chains/prices'
import { signingOn } from '#chains/signing'
import { errorKinds } from '#lib/error-kinds'
import { type SettingFacts, settings } from '#runtime/settings'

/** A Markdown table; cells are escaped so that they do not end early. */
const table = (headings: readonly string[], rows: readonly (readonly string[])[]) =>
  [headings, headings.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

function errorsPage(): string {
  const rows = Object.entries(errorKinds)
    .map(([name, { code, status, text }]) => ({ name, code, status, text }))
    .sort((a, b) => a.code - b.code || a.name.localeCompare(b.name))
    .map(({ name, code, status, text }) => [`${code}`, `${status}`, name, text])
  const unanswered = unansweredCodes.map(({ codes, about, here }) => [codes.join(', '), about, here])
  return `# Errors

Generated from \`src/lib/error-kinds.ts\`. A request that fails is answered with the HTTP status of its error and this body:

\`\`\`json
{
  "code": 2,
  "message": "API parameter invalid. pageSize must be at least 1.",
  "errors": [
    {
      "error": "min_value",
      "message": "pageSize must be at least 1",
      "location": "pageSize",
      "invalidValue": 0,
      "constraints": { "min": 1 }
    }
  ]
}
\`\`\`

- \`code\` is stable: branch on it. Several errors of the business account share the codes 2, 400 and 404, as in the
  interface that this server is compatible with; their status and operation tell them apart.
- \`message\` is English text for people, and may change. It begins with the text below, or is more specific: it names the
  field, the reason and the remedy.
- \`errors\` is present when fields of the request are to blame. \`location\` is the path of the field, such as
  \`amounts[0]\`; \`invalidValue\` is shortened; \`constraints\` has the limits of the field.
- Repeat the request after 408, 429 (\`tooManyRequests\`), 500 and 503; with its \`idempotencyKey\`, it takes effect at most
  once. After 429 and 503, the header \`Retry-After\` has the seconds to wait.

The names are those of the source. [The reference](../openapi.json) lists the codes of each operation.

${table(['Code', 'HTTP status', 'Name', 'Message'], rows)}

## Codes that are not answered

The published clients throw errors of these codes too. This version answers none of them.

${table(['Codes', 'About', 'Here'], unanswered)}
`
}

function notBuiltPage(): string {
  const sections = notBuilt.map(({ name, instead, operations, under = [] }) => {
    const folders = under.map((folder) => `\`${folder}\``).join(' and ')
    return [
      `## ${name[0]!.toUpperCase()}${name.slice(1)}`,
      ...(instead ? [instead] : []),
      ...(folders ? [`All operations under ${folders}, such as:`] : []),
      operations.map((operation) => `- \`${operation}\``).join('\n'),
    ].join('\n\n')
  })
  return `# What this version lacks

Generated from \`src/api/interface/not-built.ts\`. These operations of the interface, or of its published clients, are not part of this
version. They answer 404, and the message names the product and, where there is one, what to use here. [What works](what-works.md)
lists by area what there is.

${sections.join('\n\n')}
`
}

function settingsPage(): string {
  const rows = Object.entries<SettingFacts>(settings).map(([name, facts]) => [
    `\`${name}\``,
    facts.about,
    facts.default ?? '',
  ])
  return `# Settings

Generated from \`src/runtime/settings.ts\`; \`bezant serve --help\` shows the same. Settings are environment variables; options
of a command take precedence. Every command reads the same settings, so set them for all commands alike. At its start a command
logs a warning for each variable that begins with \`BEZANT_\` and is not listed here. The name of a setting with \`_FILE\` behind it,
such as \`BEZANT_ROOT_KEY_FILE\`, names a file with its value.

${table(['Setting', 'Meaning', 'Default'], rows)}

In Kubernetes do not name a Service \`bezant\` or \`bezant-worker\`: it would set \`BEZANT_PORT\` or \`BEZANT_WORKER_PORT\` to an
address.
`
}

const minutesOf = ({ confirmations, blockTimeMs }: Network) => {
  const minutes = (confirmations * blockTimeMs) / 60_000
  return minutes < 1 ? 'under a minute' : `${Math.round(minutes)} min`
}

const isWalletBlockchain = (blockchain: string) =>
  (walletBlockchains as readonly string[]).includes(blockchain)

function chainsPage(): string {
  const rows = networks.map((network) => [
    network.blockchain,
    isWalletBlockchain(network.blockchain) ? 'yes' : 'no',
    network.businessChain,
    network.environment,
    `${network.chainId}`,
    `${network.confirmations}`,
    minutesOf(network),
    stablecoinsOf(network)
      .filter(({ localOnly }) => !localOnly)
      .map(({ symbol }) => symbol)
      .join(', '),
    network.domain === undefined ? 'none' : `${network.domain}`,
    network.unifiedBalance ? 'yes' : 'no',
  ])
  const headings = [
    'Blockchain',
    'Wallets',
    'Business account code',
    'Keys',
    'Chain id',
    'Confirmations',
    'Take about',
    'Coins',
    'Domain',
    'Unified balance',
  ]
  return `# Chains and confirmations

Generated from \`src/chains/networks\`. A transaction is COMPLETE, and a payment \`paid\`, when its chain shows this many blocks
on it, its own counted. The chains of a sandbox, which are local, count one.

${table(headings, rows)}

An EURC that a network of this list lacks exists on the local chain of a sandbox, so that one program can be tested on all. The
local chain of APTOS-TESTNET is [simulated](sandbox.md#aptos-a-simulated-chain); that of SOL-DEVNET runs on [its virtual machine](sandbox.md#solana-its-virtual-machine).
The native coin of ARC is [USDC](arc.md). The EVM networks that the wallet clients have no code for, from CODEX to XLAYER-TESTNET, are started by name, and you can add others:
[further EVM networks](further-networks.md). A domain is the number of a chain in [cross-chain messages](crosschain-messages.md): a chain without one takes part in none. The last
column tells whether the chain takes part in [unified balances](unified-balance.md).

## What wallets have

${walletsTable()}

Listed functions are those of the chain itself: on Aptos the one batch of payments, below. Without the tokens of any contract, wallets hold the
coins of the first table. Where blocks take transactions in the order of arrival, none is accelerated or cancelled. The business account takes no
deposits and makes no payouts on chains without it; their addresses are validated and stored.

${aptosSection}

${solanaSection}

## Chains whose wallets only sign

This version connects to no node of these blockchains. Wallets are created on them, listed and validated, and sign what you send yourself;
derived wallets, smart accounts, balances and transfers answer 155507 or 155510.

${signingTable()}

A message is signed as its bytes, and a signature is hexadecimal digits, on Aptos with 0x. A transaction of Solana is base64 of the wire
encoding, legacy or of version 0, in which other signatures may be missing; on NEAR it is base64 of the borsh encoding, as a delegate action is,
with or without its prefix. The wallet has to be one of the signers. [Policy](policy.md) sees the transfers that these contain.
`
}

const solanaSection = `## Solana

[solana-wallets.mjs](../examples/solana-wallets.mjs) is a whole program with the published client, for the [local chain](sandbox.md#solana-its-virtual-machine)
of a sandbox. Wallets are EOA, of developers or of users; smart accounts, derived wallets, typed data and contracts are refused with 155507 or 155510.

- **Addresses** are base58 of 32 bytes, whose case counts. Programs, mints and accounts of tokens are refused as recipients: pay to the owner.
- **Coins** are SOL and those of the first table, of the standard Fungible. Wallets show and receive what is in the associated account of a token:
  coins in any other account are not theirs here.
- **Rent**: an account has 890,880 lamports or none. An address without one is paid no fewer (155257), and a payment of SOL that
  would leave its sender fewer fails before it is signed. The first
  payment of a token to an address makes its account, for 2,039,280 lamports of whoever pays the fee; estimates have them in \`networkFee\`.
- **Fees**: \`gasLimit\` is the limit of compute units, \`priorityFee\` the price of one in millionths of a lamport, which may be left out; there is no
  \`gasPrice\` and no \`maxFee\`. Each signature costs 5,000 lamports beside that. The \`networkFee\` of a transaction in a block is its fee, without rent.
- **Gas station**: as on Aptos, the treasury of the entity pays for wallets that lack the SOL, fee and rent.
- **Business account**: deposits, payouts, refunds and transfers, in USDC and EURC. Deposit addresses need no SOL: each sends its coins to the treasury,
  which pays the fee ([decision 154](decisions/0154-sweeps-whose-fee-the-treasury-pays.md)) and the rent of payees without an account of the token.
  Keep SOL there.
- **Order**: none. A payment that a node lost holds up no other one. It is made again when no block can have it any more, which is proven by
  our own final blocks, 151 after the one that it names ([decision 153](decisions/0153-payments-without-an-order.md)). Nothing is accelerated or
  cancelled once it is signed.
- **Blocks** are CONFIRMED when votes confirm them, and COMPLETE 33 blocks later. \`blockHeight\` counts blocks, not slots.
- **Messages** are signed as their bytes; transactions that you send yourself, legacy or of version 0, are [signed](#chains-whose-wallets-only-sign) as on NEAR.
- **Nodes** of \`BEZANT_NETWORKS\` are RPC nodes of the cluster, which their genesis hash proves. A query in the address, such as a key, is sent with
  each request. A node has to keep the blocks that are not indexed yet.`

const aptosSection = `## Aptos

[aptos-wallets.mjs](../examples/aptos-wallets.mjs) is a whole program with the published client, for the [simulated
chain](sandbox.md#aptos-a-simulated-chain) of a sandbox. Wallets are EOA, of developers or of users; smart accounts, derived wallets, typed data and
contracts are refused with 155507 or 155510.

- **Addresses** are 0x and 64 digits, leading zeros included; the special addresses 0x0 to 0xf are also written as one digit, and are not paid.
  Transfers to an object, such as the store of an account, are refused where the node says that it is one, and fail before the signature otherwise.
  An address needs no account to receive: the first payment of a coin makes what holds it, for about 0.0005 APT more of its sender.
- **Coins** are APT and those of the first table. Their \`tokenAddress\` is the metadata object of a fungible asset, the standard is FungibleAsset; a
  coin type, such as \`0x1::aptos_coin::AptosCoin\`, is refused. Wallets show what is in their primary stores.
- **Fees**: \`gasLimit\` is the maximum of gas units, \`gasPrice\` the price of one in octas, of which an APT has 10^8; there is no \`maxFee\` and no
  \`priorityFee\`. In an estimate \`networkFee\` and \`networkFeeRaw\` are their product in APT, with the limit with which a transfer is sent, room for the
  store of its recipient included. The \`networkFee\` of a transaction in a block is what it cost, for the gas that it used.
- **Gas station**: a wallet pays its fees as far as its APT reach, and the treasury of its entity pays the others, as the fee payer of the
  transaction, which the wallet signs with it. So a wallet can pay with USDC alone, and can pay all its APT. Within a day a treasury pays
  \`BEZANT_FEE_COINS_PER_WALLET\` for one wallet and \`BEZANT_FEE_COINS_PER_ENTITY\` for all ([settings](settings.md)); beyond that a payment
  fails with \`PAYMASTER_POLICY_EXCEED_MAX_NATIVE_TOKEN_DAILY\`. When neither has enough, it fails with \`INSUFFICIENT_NATIVE_TOKEN\`, and
  \`errorDetails\` has the addresses of both. A sandbox funds treasuries; elsewhere the operator does, and the alarm \`treasury-low-on-gas\` asks
  for it ([decision 150](decisions/0150-treasuries-pay-fees-where-wallets-cannot.md)).
- **Contract execution** has one function: \`contractAddress\` 0x1, \`abiFunctionSignature\`
  \`aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)\`,
  and \`abiParameters\` with the asset, up to 500 recipients, and as many amounts in base units, all as strings. Policy and screening see each payment.
  Others answer 155510.
- **Expiry**: a transaction lives ten minutes by the time of blocks. One that no block took is made again under its sequence number once it is proven
  dead, at a price of at least a tenth more. Accelerating raises the price of the same transaction; cancelling waits until it is dead, and
  then uses its sequence number for a transaction that moves nothing. Alarms and timelines call the sequence number a nonce.
- **Blocks** are final at once: there are no reorgs, and one confirmation completes a transaction.
- **Messages** are signed as their bytes, without the frame that browser wallets put around a text. The signature is 0x and 128 digits. Bytes
  that are a transaction, or give the account to another key, are refused.
- **Nodes** of \`BEZANT_NETWORKS\` are full nodes with their REST interface, at an address with or without \`/v1\`; a query in it, such as a key, is sent
  with each request. A node has to keep the blocks that are not indexed yet, and the balances at their versions.`

const yesOrNo = (fact: boolean) => (fact ? 'yes' : 'no')

/** What wallets have on the blockchains that this program connects to, those that have the same in one row. */
function walletsTable(): string {
  const rows = new Map<string, { names: string[]; cells: string[] }>()
  for (const blockchain of walletBlockchains) {
    const { connects, calls, ...has } = capabilitiesOf(blockchain)
    const network = networkOf(blockchain)
    if (!connects || !network) continue
    const { message, typedData, transaction } = signingOn(blockchain)
    const signs = Object.entries({ messages: message, 'typed data': typedData, transactions: transaction })
    const cells = [
      yesOrNo(has.userWallets),
      yesOrNo(has.derive),
      yesOrNo(has.smartAccounts),
      yesOrNo(has.anyToken),
      calls === 'any' ? 'any' : calls === 'listed' ? 'listed functions' : 'no',
      yesOrNo(network.replaceable !== false),
      signs.flatMap(([name, signer]) => (signer ? [name] : [])).join(', '),
      `${priceUnitOf(blockchain).name}${network.feeModel === 'eip1559' ? ', EIP-1559' : ''}`,
      yesOrNo(has.businessAccount),
    ]
    const row = rows.get(cells.join()) ?? { names: [], cells }
    row.names.push(blockchain)
    rows.set(cells.join(), row)
  }
  const headings = [
    'Blockchains',
    'Wallets of users',
    'Derived wallets',
    'Smart accounts',
    'Tokens of any contract, NFTs',
    'Contract execution',
    'Accelerate, cancel',
    'Sign',
    'Price of gas',
    'Business account',
  ]
  return table(
    headings,
    [...rows.values()].map(({ names, cells }) => [names.join(', '), ...cells]),
  )
}

/** A row for each blockchain on which wallets sign, and have no chain here. */
function signingTable(): string {
  const signs = (blockchain: Blockchain, kind: keyof WalletSigning) =>
    signingOn(blockchain)[kind] ? 'yes' : 'no'
  const rows = walletBlockchains
    .filter((blockchain) => {
      const { keys, connects } = capabilitiesOf(blockchain)
      return keys !== undefined && !connects && !isVirtual(blockchain)
    })
    .map((blockchain) => [
      blockchain,
      environmentOf(blockchain),
      capabilitiesOf(blockchain).userWallets ? 'yes' : 'no',
      ...(['message', 'transaction', 'delegateAction'] as const).map((kind) => signs(blockchain, kind)),
    ])
  const headings = ['Blockchain', 'Keys', 'Wallets of users', 'Messages', 'Transactions', 'Delegate actions']
  return table(headings, rows)
}

/** The pages of `docs` that are derived from the source, by path. */
export const generatedPages: Record<string, string> = {
  'docs/errors.md': errorsPage(),
  'docs/not-built.md': notBuiltPage(),
  'docs/settings.md': settingsPage(),
  'docs/chains.md': chainsPage(),
}
