import type { IconName } from '../parts/icon-names.ts'

export type ToneName = 'good' | 'warn' | 'bad' | 'info' | 'idle' | 'lab'

/** States by their tone, in the words of the API in lower case. What is in no list is information. */
const words: Record<Exclude<ToneName, 'info'>, string> = {
  good: 'complete completed paid active confirmed_final final success succeeded taken delivered approved valid live following verified ok up minted settled registered enabled in_force',
  warn: 'stuck pending action_required pending_review review behind waiting pending_verification unconfirmed underpaid frozen refusing requested locked',
  bad: 'failed denied unreachable halted orphaned refused error blocked invalid reverted disabled dropped bad gap expired_unpaid',
  idle: 'cancelled canceled expired reversed inactive archived idle removed revoked off absent none displaced unset replaced',
  lab: 'fault paused lab',
}

const tones = new Map(
  Object.entries(words).flatMap(([tone, states]) =>
    states.split(' ').map((state) => [state, tone as ToneName]),
  ),
)

export const toneOf = (state: string): ToneName =>
  tones.get(state.toLowerCase().replaceAll(' ', '_')) ?? 'info'

/** A tone is never told by its colour alone. */
export const toneIcons: Record<ToneName, IconName> = {
  good: 'check',
  warn: 'hourglass',
  bad: 'x',
  info: 'loader',
  idle: 'circle-dashed',
  lab: 'zap',
}
