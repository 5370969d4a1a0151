import type { Repository, Rule } from './repository.ts'

/** Columns that say when something happened, whatever table they are in. */
const past = new Set(
  `made_at accepted_at active_date answered_at attested_at attested_date block_time bound_date closed_date compared_date create_date deleted_date disabled_date dropped_date ended_date failed_at failed_date
  failing_since first_confirm_date frozen_date held_date hour last_entry_date last_send_date locked_date loss_booked_date moved_date
  notice_date override_date reached_date received_date recorded_at refused_since released_date removed_date retired_date revoked_date seen_date since start_date submit_date
  update_date used_date`.split(/\s+/),
)

/** Dates of business time that requests compare: at the new time the answer is another one, and no work is due. */
const comparedWhenAsked = new Set(
  `challenges.expire_date device_tokens.expire_date login_codes.expire_date login_limits.expire_date
  passkey_challenges.expire_date provider_answers.expire_date refresh_tokens.expire_date
  sealed_answers.expire_date signing_certificates.not_after sponsorships.expire_date used_id_tokens.expire_date
  user_key_guesses.locked_until user_sessions.expire_date user_tokens.expire_date`.split(/\s+/),
)

/** Dates of single deliveries, behind the `wake_date` of their subscription, which has a timer. */
const behindAnother = new Set(['notification_deliveries.due_date', 'notification_subscriptions.rest_date'])

/** Leases, and pauses between the attempts of engines: they are in the time of the database, so that they pass on a frozen clock. */
const ofRealTime = new Set(
  `attempts.lease_until bank_accounts.next_attempt_at chain_leases.lease_until deferrals.next_attempt_at event_histories.lease_until item_metadata.due_at
  message_signatures.ask_date money_watch.due notification_subscriptions.lease_until payments.next_attempt_at
  payout_batch_rows.next_attempt_at payouts.next_attempt_at rebalancings.next_attempt_at reconciliations.lease_until
  redemptions.next_attempt_at redemptions.order_attempt_at token_checks.due_at
  transfers.next_attempt_at x402_payments.next_attempt_at x402_payments.send_by unified_payments.due_at`.split(
    /\s+/,
  ),
)

const timerList = 'src/sandbox/clock/timers.ts'

export const dueDateRule: Rule = {
  name: 'an advance of business time stops at every due date',
  why: `A date at which work is due has a BusinessTimer in ${timerList}; other dates are named in scripts/tidy/due-dates.ts, by what they are.`,
  check: (repository) => {
    const columns = dateColumns(repository)
    const registered = registeredDates(repository)
    const classes = [comparedWhenAsked, behindAnother, ofRealTime, registered]
    const unclassified = columns.filter(
      (column) => !past.has(column.split('.')[1]!) && classes.every((known) => !known.has(column)),
    )
    const gone = classes.flatMap((known) => [...known].filter((column) => !columns.includes(column)))
    const twice = [...registered].filter((column) => classes.filter((known) => known.has(column)).length > 1)
    return [
      ...unclassified.map(
        (column) => `${column} may be a due date: register a BusinessTimer, or name what it is`,
      ),
      ...gone.map((column) => `${column} is named in the rule or in a timer, and is no column`),
      ...twice.map((column) => `${column} has a BusinessTimer, and is named as another kind of date`),
      ...unlistedTimers(repository),
    ]
  },
}

/** Each column of a date, as `table.column`. */
const dateColumns = (repository: Repository): string[] =>
  repository
    .matching(/^migrations\/.*\.sql$/)
    .flatMap(({ text }) => [
      ...[...text.matchAll(/create table (\w+) \(([\s\S]*?)\n\);/g)].flatMap(([, table, body]) =>
        [...body!.matchAll(/^\s+(\w+) timestamptz/gm)].map(([, column]) => `${table}.${column}`),
      ),
      ...[...text.matchAll(/alter table (\w+) add column (\w+) timestamptz/g)].map(
        ([, table, column]) => `${table}.${column}`,
      ),
    ])

const declaredTimer = /(?:export )?const (\w+): BusinessTimer = \{([\s\S]*?)\n\}/g

/** The columns that timers read as due dates, as `table.column`. */
const registeredDates = (repository: Repository): Set<string> =>
  new Set(
    repository.matching(/^src\/engines\/.*\.ts$/).flatMap(({ text }) =>
      [...text.matchAll(declaredTimer)].flatMap(([, , body]) => {
        const column = /(?:\w+\.)?(\w+) as due_date/.exec(body!)?.[1]
        const table = /\bfrom (\w+)/.exec(body!)?.[1]
        return [`${table}.${column}`]
      }),
    ),
  )

/** Timers that the list of the clock has neither by their name nor through a list of their file. */
function unlistedTimers(repository: Repository): string[] {
  const text = repository.matching(/^src\/sandbox\/clock\/timers\.ts$/)[0]?.text ?? ''
  const list = text.slice(text.indexOf('businessTimers'))
  return repository.matching(/^src\/engines\/.*\.ts$/).flatMap((file) =>
    [...file.text.matchAll(declaredTimer)]
      .map(([, name]) => name!)
      .filter((name) => {
        const group = new RegExp(`const (\\w+): readonly BusinessTimer\\[\\] = \\[[^\\]]*\\b${name}\\b`).exec(
          file.text,
        )
        return !new RegExp(`\\b${group?.[1] ?? name}\\b`).test(list)
      })
      .map((name) => `${file.path} declares the timer ${name}, which ${timerList} does not list`),
  )
}
