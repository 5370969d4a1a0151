import type { Component } from 'svelte'
import { movementKinds } from './screens/kinds.ts'
import type { DetailScreen, ListScreen } from './screens/screen.ts'

// biome-ignore-start lint/suspicious/noExplicitAny: each screen knows its own resource
/** A page: how its code is loaded, and what it is given. */
export type PageOf = { load: () => Promise<{ default: Component<any> }>; props: Record<string, unknown> }

type Screens = { lists: Record<string, ListScreen<any>>; details: Record<string, DetailScreen<any>> }
// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** The declared lists and pages of resources, each folder loaded with its first page. */
const declared: Record<string, () => Promise<Screens>> = {
  ...folder(['/movements', '/sweeps'], () =>
    import('./screens/movements.ts').then(({ movements, sweeps }) => ({
      lists: { '/movements': movements, '/sweeps': sweeps },
      details: {},
    })),
  ),
  ...folder(['/wallets', '/wallet-sets', '/transactions'], () =>
    import('./screens/wallets.ts').then((of) => ({
      lists: {
        '/wallets': of.wallets,
        '/wallet-sets': of.walletSets,
        '/transactions': of.transactions,
      },
      details: { '/wallets': of.wallet, '/wallet-sets': of.walletSet },
    })),
  ),
  ...folder(['/users'], () =>
    import('./screens/users.ts').then((of) => ({
      lists: { '/users': of.users },
      details: { '/users': of.user },
    })),
  ),
  ...folder(['/modular-wallets', '/user-operations'], () =>
    import('./screens/modular.ts').then((of) => ({
      lists: { '/modular-wallets': of.modularWallets, '/user-operations': of.userOperations },
      details: { '/modular-wallets': of.modularWallet },
    })),
  ),
  ...folder(['/contracts', '/event-monitors'], () =>
    import('./screens/contracts.ts').then((of) => ({
      lists: { '/contracts': of.contracts, '/event-monitors': of.eventMonitors },
      details: { '/contracts': of.contract, '/event-monitors': of.eventMonitor },
    })),
  ),
  ...folder(['/messages', '/attesters', '/unified-balances', '/unified-transfers'], () =>
    import('./screens/crosschain.ts').then((of) => ({
      lists: {
        '/messages': of.messages,
        '/attesters': of.attesters,
        '/unified-balances': of.unifiedBalances,
        '/unified-transfers': of.unifiedTransfers,
      },
      details: { '/messages': of.message, '/unified-transfers': of.unifiedTransfer },
    })),
  ),
  ...folder(['/accounts'], () =>
    import('./screens/accounts.ts').then((of) => ({
      lists: { '/accounts': of.accounts },
      details: { '/accounts': of.account },
    })),
  ),
  ...folder(['/payout-files'], () =>
    import('./screens/payout-batches.ts').then((of) => ({
      lists: { '/payout-files': of.payoutBatches },
      details: { '/payout-files': of.payoutBatch },
    })),
  ),
  ...folder(['/payment-intents', '/payments', '/payouts', '/transfers', '/deposits', '/address-book'], () =>
    import('./screens/business.ts').then((of) => ({
      lists: {
        '/payment-intents': of.paymentIntents,
        '/payments': of.payments,
        '/payouts': of.payouts,
        '/transfers': of.transfers,
        '/deposits': of.deposits,
        '/address-book': of.addressBook,
      },
      details: {
        '/payment-intents': of.paymentIntent,
        '/address-book': of.recipient,
      },
    })),
  ),
  ...folder(['/notifications', '/webhooks', '/business-webhooks', '/requests', '/events', '/keys'], () =>
    import('./screens/developers.ts').then((of) => ({
      lists: {
        '/notifications': of.notifications,
        '/webhooks': of.webhooks,
        '/business-webhooks': of.businessWebhooks,
        '/requests': of.requests,
        '/events': of.events,
        '/keys': of.keys,
      },
      details: { '/webhooks': of.webhook, '/business-webhooks': of.businessWebhook, '/keys': of.key },
    })),
  ),
  ...folder(['/policy', '/freezes'], () =>
    import('./screens/policies.ts').then((of) => ({
      lists: { '/policy': of.policies, '/freezes': of.freezes },
      details: { '/policy': of.policy },
    })),
  ),
  ...folder(['/screening-lists'], () =>
    import('./screens/screening-lists.ts').then((of) => ({
      lists: { '/screening-lists': of.screeningLists },
      details: { '/screening-lists': of.screeningList },
    })),
  ),
  ...folder(['/reviews', '/screenings', '/reconcile'], () =>
    import('./screens/control.ts').then((of) => ({
      lists: {
        '/reviews': of.reviews,
        '/screenings': of.screenings,
        '/reconcile': of.reconciliations,
      },
      details: { '/reviews': of.review, '/screenings': of.screening },
    })),
  ),
}

/** Pages that are drawn by themselves. `:id` takes what follows. */
const drawn: Record<string, PageOf['load']> = {
  '/': () => import('./screens/OverviewPage.svelte'),
  '/movements/:id': () => import('./timeline/MovementPage.svelte'),
  '/requests/:id': () => import('./screens/RequestPage.svelte'),
  '/notifications/:id': () => import('./screens/NotificationPage.svelte'),
  '/balances': () => import('./screens/BalancesPage.svelte'),
  '/treasury': () => import('./screens/TreasuryPage.svelte'),
  '/chains': () => import('./screens/ChainsPage.svelte'),
  '/exports': () => import('./screens/ExportsPage.svelte'),
  '/audit': () => import('./screens/AuditPage.svelte'),
  '/lab/faults': () => import('./lab/FaultsPage.svelte'),
  '/lab/clock': () => import('./lab/ClockPage.svelte'),
  '/lab/snapshots': () => import('./lab/SnapshotsPage.svelte'),
  '/lab/chains': () => import('./lab/LocalChainsPage.svelte'),
  '/lab/catcher': () => import('./lab/CatcherPage.svelte'),
  '/lab/triggers': () => import('./lab/TriggersPage.svelte'),
}

const listPage = () => import('./screens/ListPage.svelte')
const detailPage = () => import('./screens/DetailPage.svelte')

/** The page of a path below `/console`. */
export function pageOf(path: string): PageOf {
  const [, folderName = '', rest] = /^(\/[^/]*)(?:\/(.+))?$/.exec(path) ?? []
  const id = rest === undefined ? '' : decodeURIComponent(rest)
  if (drawn[path]) return { load: drawn[path], props: {} }
  if (rest !== undefined && drawn[`${folderName}/:id`])
    return { load: drawn[`${folderName}/:id`]!, props: { id } }
  const load = declared[folderName]
  if (!load) return { load: () => import('./screens/UnknownPage.svelte'), props: { path } }
  // The screen is known once its folder is loaded: the props are filled by then.
  const props: Record<string, unknown> = rest === undefined ? {} : { id }
  return {
    props,
    async load() {
      const { lists, details } = await load()
      props['screen'] = rest === undefined ? lists[folderName] : details[folderName]
      if (!props['screen']) return import('./screens/UnknownPage.svelte')
      return rest === undefined ? listPage() : detailPage()
    },
  }
}

const foldersOfResources: Readonly<Record<string, string>> = {
  account: '/accounts',
  contract: '/contracts',
  eventMonitor: '/event-monitors',
  modularWallet: '/modular-wallets',
  notification: '/notifications',
  paymentIntent: '/payment-intents',
  payoutBatch: '/payout-files',
  recipient: '/address-book',
  request: '/requests',
  subscription: '/webhooks',
  wallet: '/wallets',
  walletSet: '/wallet-sets',
}

/** The page of a resource by its kind; absent of kinds that have none. Movements have one in common. */
export function pageOfResource(kind: string, id: string): string | undefined {
  const folderName = movementKinds.includes(kind) ? '/movements' : foldersOfResources[kind]
  return folderName && `${folderName}/${encodeURIComponent(id)}`
}

function folder(
  paths: readonly string[],
  load: () => Promise<Screens>,
): Record<string, () => Promise<Screens>> {
  return Object.fromEntries(paths.map((path) => [path, load]))
}
