/** The types of v2 notifications by resource; a subscription names single ones, a whole resource as `<resource>.*`, or `*`. */
const types = {
  transactions: ['inbound', 'outbound'],
  challenges: [
    'accelerateTransaction',
    'cancelTransaction',
    'changePin',
    'contractExecution',
    'createTransaction',
    'createWallet',
    'initialize',
    'restorePin',
    'setPin',
    'setSecurityQuestions',
  ],
  contracts: ['eventLog'],
  x402: ['payment'],
  modularWallet: ['userOperation', 'inboundTransfer', 'outboundTransfer'],
  travelRule: ['statusUpdate', 'deny', 'approve'],
  rampSession: [
    'completed',
    'depositReceived',
    'expired',
    'failed',
    'kycApproved',
    'kycRejected',
    'kycSubmitted',
  ],
} as const

/** Everything that a subscription may name. */
export const notificationTypes: readonly string[] = [
  '*',
  ...Object.entries(types).flatMap(([resource, events]) =>
    ['*', ...events].map((event) => `${resource}.${event}`),
  ),
]

/** Everything that a subscription to unified balances may name. */
export const gatewayNotificationTypes: readonly string[] = [
  'gateway.*',
  'gateway.deposit.finalized',
  'gateway.mint.finalized',
  'gateway.mint.forwarded',
]
