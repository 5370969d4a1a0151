import type { IconName } from '../parts/icon-names.ts'

export type Section = { path: string; title: string; icon: IconName; letter?: string }
export type Group = { title?: string; isLab?: boolean; sections: readonly Section[] }

/** The side bar. `letter` follows `g` to go there. */
export const groups: readonly Group[] = [
  {
    sections: [
      { path: '/', title: 'Overview', icon: 'layout-dashboard', letter: 'o' },
      { path: '/movements', title: 'Movements', icon: 'activity', letter: 'm' },
    ],
  },
  {
    title: 'Wallets',
    sections: [
      { path: '/wallets', title: 'Wallets', icon: 'wallet', letter: 'w' },
      { path: '/wallet-sets', title: 'Wallet sets', icon: 'layers' },
      { path: '/transactions', title: 'Transactions', icon: 'arrow-left-right', letter: 't' },
      { path: '/users', title: 'Users', icon: 'users', letter: 'u' },
      { path: '/modular-wallets', title: 'Modular wallets', icon: 'box' },
      { path: '/user-operations', title: 'User operations', icon: 'square-function' },
      { path: '/contracts', title: 'Contracts', icon: 'file-code', letter: 'c' },
      { path: '/event-monitors', title: 'Event monitors', icon: 'inbox' },
    ],
  },
  {
    title: 'Business account',
    sections: [
      { path: '/balances', title: 'Balances', icon: 'landmark', letter: 'b' },
      { path: '/treasury', title: 'Treasury', icon: 'gauge' },
      { path: '/payment-intents', title: 'Payment intents', icon: 'inbox' },
      { path: '/payments', title: 'Payments', icon: 'download', letter: 'p' },
      { path: '/payouts', title: 'Payouts', icon: 'upload', letter: 'y' },
      { path: '/payout-files', title: 'Payout files', icon: 'list' },
      { path: '/transfers', title: 'Transfers', icon: 'repeat' },
      { path: '/deposits', title: 'Deposits', icon: 'coins' },
      { path: '/sweeps', title: 'Sweeps', icon: 'arrow-down-left' },
      { path: '/address-book', title: 'Address book', icon: 'book-user', letter: 'a' },
    ],
  },
  {
    title: 'Cross-chain',
    sections: [
      { path: '/messages', title: 'Messages', icon: 'globe' },
      { path: '/unified-balances', title: 'Unified balances', icon: 'layers' },
      { path: '/unified-transfers', title: 'Unified transfers', icon: 'repeat' },
      { path: '/attesters', title: 'Attesters', icon: 'pen-line' },
    ],
  },
  {
    title: 'Developers',
    sections: [
      { path: '/notifications', title: 'Notifications', icon: 'send', letter: 'n' },
      { path: '/webhooks', title: 'Webhooks', icon: 'webhook', letter: 'h' },
      { path: '/business-webhooks', title: 'Business webhooks', icon: 'landmark' },
      { path: '/requests', title: 'Request log', icon: 'scroll-text', letter: 'r' },
      { path: '/events', title: 'Events', icon: 'list', letter: 'e' },
      { path: '/keys', title: 'API keys', icon: 'key-round', letter: 'k' },
    ],
  },
  {
    title: 'Control',
    sections: [
      { path: '/reviews', title: 'Reviews', icon: 'user-search', letter: 'v' },
      { path: '/screenings', title: 'Screenings', icon: 'fingerprint-pattern' },
      { path: '/screening-lists', title: 'Screening lists', icon: 'list-x', letter: 'i' },
      { path: '/policy', title: 'Policy', icon: 'shield-check', letter: 'l' },
      { path: '/freezes', title: 'Freezes', icon: 'lock' },
      { path: '/accounts', title: 'Accounts', icon: 'scale' },
      { path: '/exports', title: 'Exports', icon: 'download' },
      { path: '/reconcile', title: 'Reconcile', icon: 'check', letter: 'x' },
      { path: '/audit', title: 'Audit trail', icon: 'link', letter: 'd' },
      { path: '/chains', title: 'Chains', icon: 'network' },
    ],
  },
  {
    title: 'Lab',
    isLab: true,
    sections: [
      { path: '/lab/faults', title: 'Faults', icon: 'zap', letter: 'f' },
      { path: '/lab/clock', title: 'Clock', icon: 'clock' },
      { path: '/lab/snapshots', title: 'Snapshots', icon: 'camera', letter: 's' },
      { path: '/lab/chains', title: 'Local chains', icon: 'pickaxe' },
      { path: '/lab/catcher', title: 'Catcher', icon: 'inbox' },
      { path: '/lab/triggers', title: 'Triggers', icon: 'play' },
    ],
  },
  {
    title: 'Read',
    sections: [
      { path: '/docs', title: 'Documents', icon: 'book-open' },
      { path: '/docs/reference', title: 'API reference', icon: 'braces' },
    ],
  },
]

export const sections: readonly Section[] = groups.flatMap((group) => group.sections)
