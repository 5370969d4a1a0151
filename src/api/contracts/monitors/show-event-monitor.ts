import type { EventMonitor } from '#engines/indexer/events/index'
import { type Heads, historyOf, lagOf } from './monitor-progress.ts'

export const showEventMonitor = (monitor: EventMonitor, heads: Heads) => ({
  id: monitor.id,
  blockchain: monitor.blockchain,
  contractAddress: monitor.contractAddress,
  eventSignature: monitor.eventSignature,
  eventSignatureHash: monitor.eventSignatureHash,
  isEnabled: monitor.isEnabled,
  ...lagOf(monitor, heads),
  ...historyOf(monitor),
  createDate: monitor.createDate,
  updateDate: monitor.updateDate,
})
