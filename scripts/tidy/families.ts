import type { Rule } from './repository.ts'
import { programFiles } from './words.ts'

/** Words of EVM: what other families of chains have otherwise, or not at all. */
const words = /keccak|'evm'|eip1559|\bchainId\b|\bgasLimit\b|[gG]wei|0x\[0-9a-f/

/** Folders of EVM by their nature: operations of smart accounts and contracts, and the commands for local chains. */
const ofEvm =
  /^src\/(chains|sandbox|cli\/lab|kit|custody\/families|engines\/modular|api\/(json-rpc|modular-wallets|contracts\/templates))\//

/** Files that still speak of EVM. This list only gets shorter: move the fact into `chains/evm` behind a facet, and strike the file out. */
const burnDown = new Set([
  'src/api/attester/schema.ts',
  'src/api/challenges/quote-fee.ts',
  'src/api/challenges/transaction-kinds.ts',
  'src/api/contracts/served-sources.ts',
  'src/api/contracts/verified-sources.ts',
  'src/api/fees/fee-request.ts',
  'src/api/fees/fee-schema.ts',
  'src/api/fees/show-fee.ts',
  'src/api/messages/schema.ts',
  'src/api/operator/list-chains.ts',
  'src/api/operator/schema.ts',
  'src/api/operator/show-chains.ts',
  'src/api/signing/schema.ts',
  'src/api/signing/signer.ts',
  'src/api/transactions/find-lowest-nonce-transaction.ts',
  'src/api/transactions/routes.ts',
  'src/api/transactions/schema.ts',
  'src/api/transactions/upgrade-wallet.ts',
  'src/api/unified-balance/schema.ts',
  'src/api/unified-balance/sources.ts',
  'src/cli/sandbox.ts',
  'src/custody/installation/attestation-keys.ts',
  'src/custody/policy/rules.ts',
  'src/custody/wallets/types.ts',
  'src/engines/attestation/attesters.ts',
  'src/engines/attestation/follow.ts',
  'src/engines/compliance/lists/sanctioned-currencies.ts',
  'src/engines/transactions/sequence/fill-gaps.ts',
  'src/engines/transactions/operations/sign-operations.ts',
  'src/engines/transactions/plan.ts',
  'src/engines/transactions/sequence/replace.ts',
  'src/engines/transactions/revert-reasons.ts',
  'src/engines/transactions/sign.ts',
  'src/engines/transactions/store/attempts.ts',
  'src/engines/transactions/store/outbound.ts',
  'src/engines/transactions/store/replacements.ts',
  'src/engines/transactions/store/revert-reasons.ts',
  'src/engines/transactions/store/transactions.ts',
  'src/engines/transactions/submit.ts',
  'src/engines/treasury/bundling/bundle-operations.ts',
  'src/engines/treasury/bundling/submit-call.ts',
  'src/engines/treasury/submit-treasury-call.ts',
  'src/lib/error-kinds.ts',
  'src/lib/error-kinds/contracts.ts',
])

export const familyWordRule: Rule = {
  name: 'the words of a chain family stay in its folder',
  why: 'A further family of chains touches its own folders and nothing else.',
  check: (repository) =>
    programFiles(repository)
      .filter(({ path }) => !ofEvm.test(path))
      .flatMap(({ path, text }) => {
        if (words.test(text) === burnDown.has(path)) return []
        return burnDown.has(path)
          ? [`${path} speaks of EVM no more: strike it out of scripts/tidy/families.ts`]
          : [`${path} speaks of EVM (${words.exec(text)![0]}): let a facet of the chain say it`]
      }),
}

export const familySuiteRule: Rule = {
  name: 'the suite of families names none of them',
  why: 'A further family gives it an object, and changes nothing in it.',
  check: (repository) =>
    repository.matching(/^testing\/families\/suite\/.*\.ts$/).flatMap(({ path, text }) => {
      const named = /evm|aptos|solana|ethereum|anvil/i.exec(text)?.[0]
      return named ? [`${path} names ${named}: ask the object of the family for it`] : []
    }),
}

/** A search among the tokens of a network by symbol, which misses a native coin that is a stablecoin. */
const tokenBySymbol =
  /\btokens\s*\.(find|filter|some)\(\s*(\(\{[^})]*\bsymbol\b|\(?(\w+)[^)]{0,40}\)? =>\s*\3\.symbol\b)/g

/** Searches that leave such a coin out on purpose. */
const withoutNativeCoins = new Set([
  // The business account is off where the native coin is a stablecoin.
  'src/engines/treasury/rebalancing/ends.ts',
])

export const stablecoinRule: Rule = {
  name: 'a stablecoin is found by `stablecoinsOf`',
  why: 'The native coin of a network may be it, and is none of its `tokens`: a search among those fails there.',
  check: (repository) =>
    programFiles(repository)
      .filter(({ path }) => !withoutNativeCoins.has(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(tokenBySymbol)].map(
          ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
        ),
      ),
}
