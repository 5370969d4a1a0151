/**
 * Failpoints: places between two steps where tests can make a process die or freeze. One is armed at boot, by the
 * environment or by a separate test process, never by a request. Unarmed, a failpoint costs one comparison.
 */

/**
 * All failpoints, with their numbers in the list of 24 that every build must carry; those of the treasury, of event
 * histories, of unlisted tokens and of PINs follow. Missing are P5, because a policy decision commits with its request, and P24:
 * migrations.
 */
export const failpoints = {
  'before-request-commit': { number: 'P1', about: 'before an accepted request commits' },
  'after-request-commit': { number: 'P2', about: 'after an accepted request committed, before its answer' },
  'before-screening': { number: 'P3', about: 'before a disbursement is screened' },
  'before-screening-record': { number: 'P4', about: 'after its screening, before that is stored' },
  'after-send-lease': { number: 'P6', about: 'after signed bytes were leased to be sent' },
  'before-attempt-commit': { number: 'P7', about: 'before nonce and attempt commit' },
  'after-attempt-commit': { number: 'P8', about: 'after nonce and attempt committed' },
  'before-signature': { number: 'P9', about: 'after the entry in the signing ledger, before the signature' },
  'after-signature': { number: 'P10', about: 'after the signature, before the raw bytes are stored' },
  'after-attempt-insert': { number: 'P11', about: 'after the raw bytes were stored, before that commits' },
  'before-send': { number: 'P12', about: 'after the journal reached the disk, before sending' },
  'before-send-answer': { number: 'P13', about: 'after the bytes were posted, before the answer is read' },
  'before-send-record': { number: 'P14', about: 'after the answer was read, before it is stored' },
  'before-block-insert': { number: 'P15', about: 'after logs of a block were read, before they are stored' },
  'before-block-commit': { number: 'P16', about: 'before the postings of a block commit' },
  'after-block-commit': { number: 'P17', about: 'after the postings of a block committed' },
  'before-replacement-send': { number: 'P18', about: 'after a replacement was stored, before it is sent' },
  'before-replacement-record': { number: 'P19', about: 'after sending a replacement, before that is stored' },
  'before-cancel-record': { number: 'P20', about: 'after a cancel was mined, before that is stored' },
  'before-delivery-record': { number: 'P21', about: 'after a webhook was answered, before that is stored' },
  'before-cursor-advance': { number: 'P22', about: 'after a step was processed, before the cursor moves on' },
  'during-block-rollback': { number: 'P23', about: 'midway through reverting a block' },
  'before-treasury-commit': { number: 'P25', about: 'before the tx of a disbursement or sweep commits' },
  'after-treasury-commit': { number: 'P26', about: 'after the tx of a disbursement or sweep committed' },
  'before-settlement-commit': { number: 'P27', about: 'before the final status of disbursements commits' },
  'after-settlement-commit': { number: 'P28', about: 'after the final status of disbursements committed' },
  'before-history-commit': { number: 'P29', about: 'before old logs of a monitored event commit' },
  'after-history-commit': { number: 'P30', about: 'after a span of old logs of an event committed' },
  'before-balance-commit': { number: 'P31', about: 'before balances of unlisted tokens commit' },
  'after-balance-commit': { number: 'P32', about: 'after balances of unlisted tokens committed' },
  'after-guess-count': { number: 'P33', about: 'after a guess at a PIN was counted, before it is compared' },
  'before-guess-clear': {
    number: 'P34',
    about: 'after a PIN was found right, before its guesses are cleared',
  },
  'before-attestation-commit': {
    number: 'P40',
    about: 'before an attested transfer and its reservation commit',
  },
  'after-attestation-commit': {
    number: 'P41',
    about: 'after an attested transfer committed, before its answer',
  },
  'before-message-commit': { number: 'P44', about: 'before attested messages commit' },
  'after-message-commit': { number: 'P45', about: 'after attested messages committed' },
  'before-forward-commit': { number: 'P46', about: 'before deliveries of messages commit' },
  'after-forward-commit': { number: 'P47', about: 'after deliveries of messages committed' },
  'before-signature-record': {
    number: 'P48',
    about: 'after an attester answered, before its signature is stored',
  },
  'after-signature-record': { number: 'P49', about: 'after the signature of an attester was stored' },
  'before-completion-commit': { number: 'P50', about: 'before messages with all signatures commit' },
  'after-completion-commit': { number: 'P51', about: 'after messages with all signatures committed' },
  'before-rebalancing-commit': { number: 'P53', about: 'before a rebalancing, or a step of it, commits' },
  'after-rebalancing-commit': { number: 'P54', about: 'after a rebalancing, or a step of it, committed' },
  'before-mint-commit': { number: 'P55', about: 'before the mint of a rebalancing commits' },
  'after-mint-commit': { number: 'P56', about: 'after the mint of a rebalancing committed' },
  'before-burn-commit': { number: 'P42', about: 'before a batch of burns commits' },
  'after-burn-commit': { number: 'P43', about: 'after a batch of burns committed' },
  'within-snapshot-save': { number: 'P57', about: 'after the parts of a snapshot, before its manifest' },
  'before-snapshot-swap': { number: 'P58', about: 'after a restore is prepared, before its note' },
  'within-snapshot-swap': { number: 'P59', about: 'after a restore swapped the files of one chain' },
  'after-snapshot-database': { number: 'P60', about: 'after a restore swapped the databases' },
  'after-snapshot-swap': { number: 'P61', about: 'after a restore swapped all, before its note is removed' },
  'before-batch-row-commit': { number: 'P76', about: 'before a row of a batch of payouts commits' },
  'after-batch-row-commit': { number: 'P77', about: 'after a row of a batch of payouts committed' },
  'within-flow-count': {
    number: 'P62',
    about: 'after transfers were added to the flow, before they leave its queue',
  },
  'before-flow-commit': { number: 'P63', about: 'before a batch of the flow commits' },
  'before-payment-commit': { number: 'P64', about: 'before the transactions of signed payments commit' },
  'before-acceptance-commit': {
    number: 'P68',
    about: 'before an accepted payment and its reservation commit',
  },
  'after-acceptance-commit': {
    number: 'P69',
    about: 'after an accepted payment committed, before its answer',
  },
  'before-payments-commit': { number: 'P70', about: 'before a batch of payments commits' },
  'after-payments-commit': { number: 'P71', about: 'after a batch of payments committed' },
  'after-order-record': { number: 'P72', about: 'after an order to a bank was recorded, before it is sent' },
  'after-order-answer': { number: 'P73', about: 'after a bank took an order, before that is stored' },
  'before-result-commit': { number: 'P74', about: 'before the result of a bank commits' },
  'after-root-key-activation': { number: 'P75', about: 'after a new version of the root key began to seal' },
  'after-root-key-batch': { number: 'P78', about: 'after a batch of values was sealed with a new root key' },
  'after-root-key-close': { number: 'P79', about: 'after the former root key was closed' },
  'after-root-key-wrap': {
    number: 'P66',
    about: 'after a service wrapped a new root key, before that is stored',
  },
  'after-wrapped-version': {
    number: 'P67',
    about: 'after a version that a service wrapped was stored, before it seals',
  },
  'after-payment-commit': { number: 'P65', about: 'after the transactions of signed payments committed' },
} as const

export type Failpoint = keyof typeof failpoints

/** `kill` ends the process as `kill -9` does; `stop` freezes it until it receives SIGCONT. */
export type FailpointAction = 'kill' | 'stop'

/** The process acts at the `hit`-th time (from 1) that it reaches the failpoint. */
export type FailpointPlan = { point: Failpoint; hit: number; action: FailpointAction }

let armed: (FailpointPlan & { reached: number }) | undefined

/** Marks the place in the code that calls it. Does nothing unless this failpoint is armed. */
export function failpoint(point: Failpoint): void {
  if (armed?.point !== point) return
  armed.reached += 1
  if (armed.reached === armed.hit) process.kill(process.pid, armed.action === 'kill' ? 'SIGKILL' : 'SIGSTOP')
}

/** Arms one failpoint of this process in place of the previous one; `undefined` disarms. */
export function armFailpoint(plan: FailpointPlan | undefined): void {
  armed = plan && { ...plan, reached: 0 }
}

export const isFailpoint = (text: string): text is Failpoint => Object.hasOwn(failpoints, text)

/** Parses `name`, `name:3` or `name:3:stop`; returns undefined for other text. */
export function parseFailpointPlan(text: string): FailpointPlan | undefined {
  const [, point, hit = '1', action = 'kill'] =
    /^([a-z-]+)(?::([1-9]\d{0,5}))?(?::(kill|stop))?$/.exec(text) ?? []
  if (point === undefined || !isFailpoint(point)) return undefined
  return { point, hit: Number(hit), action: action as FailpointAction }
}
