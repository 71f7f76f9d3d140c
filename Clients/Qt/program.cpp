// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors
//
// A program that knows Qt alone, for the tests: prints which backend it has, and every change.
#include <QCoreApplication>
#include <QNetworkInformation>
#include <cstdio>

static void show(const QNetworkInformation *information)
{
    std::printf("%s reachability=%d portal=%d metered=%d\n", qPrintable(information->backendName()),
                int(information->reachability()), information->isBehindCaptivePortal(), information->isMetered());
    std::fflush(stdout);
}

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    if (!QNetworkInformation::loadDefaultBackend() || !QNetworkInformation::instance()) {
        const bool isLoaded = QNetworkInformation::loadBackendByFeatures(QNetworkInformation::Feature::Reachability);
        if (!isLoaded) return 1;
    }
    const QNetworkInformation *information = QNetworkInformation::instance();
    show(information);
    QObject::connect(information, &QNetworkInformation::reachabilityChanged, [=] { show(information); });
    QObject::connect(information, &QNetworkInformation::isMeteredChanged, [=] { show(information); });
    QObject::connect(information, &QNetworkInformation::isBehindCaptivePortalChanged, [=] { show(information); });
    return application.exec();
}
