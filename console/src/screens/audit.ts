import type { AuditRow } from '../api/types.ts'
import { id, mono, text, time } from '../parts/cell.ts'
import type { ListScreen, Row } from './screen.ts'

export const auditEntries: ListScreen<Row & AuditRow> = {
  title: 'Audit trail',
  about:
    'Who did what. Each entry is linked to the one before it and signed within about a second, so that nothing is altered unseen.',
  path: '/operator/auditEntries',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Action', cell: ({ action }) => text(action), place: 'title' },
    { title: 'By', cell: ({ actor }) => mono(actor), place: 'below' },
    { title: 'Resource', cell: ({ resourceId }) => id(resourceId) },
    { title: 'Request', cell: ({ requestId }) => id(requestId, `/requests/${requestId}`), place: 'state' },
    { title: 'Hash of the link', cell: ({ hash }) => mono(hash?.slice(0, 14)) },
    {
      title: 'Position',
      isNumber: true,
      cell: ({ position }) => text(position?.toLocaleString('en')),
      place: 'amount',
    },
  ],
  filters: [
    { name: 'action', title: 'Action', placeholder: 'Action: apiKey.created' },
    { name: 'actor', title: 'By', placeholder: 'By: member:…' },
    { name: 'resourceId', title: 'Resource id' },
  ],
  follows: () => true,
  empty: { text: 'Nothing was done yet.' },
}
